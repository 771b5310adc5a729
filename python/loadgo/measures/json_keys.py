"""The JSON keys of a run's summary, type by type: `key`, or `key=field` where the field has another name."""

from __future__ import annotations

from loadgo.measures.audit import DriverAudit, Loss, SessionCounts
from loadgo.measures.charges import Cost
from loadgo.measures.drivers import DriverFigures
from loadgo.measures.event_totals import EventTotals
from loadgo.measures.fail_if_figures import ConditionResult
from loadgo.measures.hosts import HostFigures, HostLost
from loadgo.measures.limit_costs import LimitCost, LimitCosts
from loadgo.measures.littles_law import LittleAudit
from loadgo.measures.lock_waits import LockWaits
from loadgo.measures.meter_price import MeterPrice, PriceOfMeter
from loadgo.measures.metered_hosts import HostDifference, MeteredHost, MeteredHosts
from loadgo.measures.meters import FunctionSamples, MappingTotals, MeteredWindows, Meters, MetersOfPart
from loadgo.measures.network_time import NetworkTime
from loadgo.measures.other_work import OtherWork
from loadgo.measures.processor_speed import ProcessorSpeed
from loadgo.measures.queues import Queue, QueueLengthTime, ReadyQueue
from loadgo.measures.run_description import RunDescription
from loadgo.measures.summary import CommandSummary, Summary
from loadgo.measures.tariff import Tariff
from loadgo.measures.total_time import BusyTime, Category, TotalTime
from loadgo.measures.usage import Outcomes, TypingUsage, Usage, UsageAudit
from loadgo.measures.vocabulary import DocumentVocabulary, VocabularyLine
from loadgo.measures.whose_time import OwnerTime, WhoseTime
from loadgo.measures.working_sets import FaultsAtMemory, WorkingSet, WorkingSets
from loadgo.records.interactions import TimeByClass
from loadgo.records.phases import Stretch
from loadgo.records.prediction import PredictedFigure, Prediction
from loadgo.stats.quantiles import Quantile, Response

JSON_KEYS: dict[type, str] = {
    Summary: (
        "run stretch commands everything classes total_time whose_time meters audit driver sessions losses cost "
        "notes prediction fail_if other_work fit_warnings typing usage_audit hosts "
        "drivers network metered_hosts limit_costs working_sets processor_speed"
    ),
    LimitCosts: "users everybody",
    WorkingSets: "users readings resident_bytes file_bytes device_bytes variation windows faults",
    WorkingSet: "window_s bytes interval readings",
    FaultsAtMemory: "share bytes faults_per_s interval bound unused_s",
    LimitCost: (
        "user cpu_ns periods throttled_periods throttled_ns memory_refusals memory_kills "
        "memory_peak_bytes pids_refusals"
    ),
    OtherWork: "share error at_most level host",
    ProcessorSpeed: "pieces mean_ns error_ns slow fast later_ratio later_low later_high",
    ConditionResult: "condition holds text is_open",
    RunDescription: (
        "id kind name model users started wall_s finished outcome system load conditions limit limit_each meters usage "
        "users_run"
    ),
    Stretch: "name start_ns end_ns counted warm_up ramp_down extrapolated note cut chosen",
    CommandSummary: "name response usage outcomes cost",
    Response: "count answered users mean_ns max_ns quantiles",
    Quantile: "probability state value_ns low_ns high_ns",
    Usage: (
        "measured cpu_user_ns cpu_system_ns faults_minor faults_major ready_wait_ns paging_wait_ns io_wait_ns "
        "bytes_out throttled_ns"
    ),
    TypingUsage: "measured cpu_ns faults_minor faults_major ready_wait_ns paging_wait_ns io_wait_ns",
    UsageAudit: "judged impossible excess_ns",
    Outcomes: "ok failed timeouts died unconfirmed not_found unseen",
    TimeByClass: "thinking_ns typing_ns waiting_ns driver_ns total_ns",
    TotalTime: "span_ns kind processors wall_ns categories account total_ns non_idle_ns",
    Category: "name time_ns error_ns by_processor_ns busy in_non_idle count each_ns",
    BusyTime: (
        "busy_ns users_ns driver_ns meters_ns instrument_ns price supervisor_ns unattributed_ns resolution_ns "
        "laboratory_ns"
    ),
    MeterPrice: "windows windows_ns programs_ns error_ns reading_ns share share_error by_meter",
    PriceOfMeter: "meter runs time_ns error_ns has_calls",
    WhoseTime: "source users processes",
    OwnerTime: "name cpu_ns ready_wait_ns paging_wait_ns io_wait_ns",
    Meters: (
        "span_ns windows faults fault_correction_ns segments functions primitives interrupts locks queues ready "
        "eligible asking by parts command"
    ),
    EventTotals: (
        "name count errors faults cpu_ns wait_ns time_ns mean_ns p50_ns p90_ns p99_ns count_error cpu_error_ns"
    ),
    MeteredWindows: "number covered_ns share",
    MappingTotals: "name faults_minor faults_major samples",
    FunctionSamples: "name samples share",
    LockWaits: "kind place count a_second wait_ns mean_ns longest_ns users_wait_ns response_share",
    Queue: "name length requests a_second service_ns wait_ns busy",
    ReadyQueue: "mean lengths wait_ns switches preemptions interruptions a_second",
    QueueLengthTime: "low high time_ns share",
    MetersOfPart: "whose faults primitives",
    LittleAudit: "law span_s rate_per_s response_s think_s stay_s measured computed verdict discrepancy",
    DriverAudit: (
        "lateness_p50_ns lateness_p99_ns lateness_max_ns lateness_limit_ns late_lines host_share host_share_limit "
        "scheduling processor proof notes valid name late_names"
    ),
    SessionCounts: "users done died refused stopped",
    Loss: "what reason count tolerated",
    HostFigures: (
        "name address first_user last_user processors response usage busy_share ratio ratio_low ratio_high verdict lost"
    ),
    DriverFigures: (
        "name address first_user last_user lines lateness_p99_ns lateness_max_ns driver_share busy_share "
        "clock_bound_ns lost"
    ),
    HostLost: "reason at_s tolerated",
    NetworkTime: "known answered response_ns there_ns network_ns low_ns high_ns",
    MeteredHosts: "hosts differences judged",
    MeteredHost: ("name address processors busy_share user_share held_up_share run_queue most most_share lost"),
    HostDifference: "host figure value others low high",
    Cost: "tariff interaction user_hour",
    Tariff: (
        "name title source assumption currency shift cpu_hour paging_wait_hour connect_hour memory_gigabyte_hour "
        "gigabyte_out gigabyte_in machine_hour"
    ),
    Prediction: "draws redrawn parameters set_aside users figures",
    PredictedFigure: "command measure predicted interval doubt chance central parameters_share",
    DocumentVocabulary: "year title lines homeless remarks",
    VocabularyLine: "name time_ns non_idle count each_ns means sum",
}
