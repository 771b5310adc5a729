"""The JSON keys of a capacity, type by type: `key`, or `key=field` where the field has another name."""

from __future__ import annotations

from loadgo.sizing.curve import ClassFigures, LoadPoint, MeasuredFigure, MixClass, Target, TargetVerdict
from loadgo.sizing.models.answers import ModelCapacity, ModelTarget
from loadgo.sizing.models.basis import UserClassModel
from loadgo.sizing.models.demands import Demand
from loadgo.sizing.models.extrapolation import ModelFigures
from loadgo.sizing.models.models import CapacityModel, ModelMiss, Models
from loadgo.sizing.search.fit_doubt import FitDoubt
from loadgo.sizing.search.narrowing import Narrowing
from loadgo.sizing.search.results import Capacity, Neighbours, QuietCapacity, Saturation, SearchLimits, TrialRecord
from loadgo.theory.job_bounds import JobBounds
from loadgo.theory.scalability import FittedLaw, Scalability

JSON_KEYS: dict[type, str] = {
    Capacity: (
        "bad script on settings targets end answer interval confidence in_words binding saturates_first points "
        "interactions_spent trials seconds classes limits servers currency tariff models notes each_trial neighbours "
        "narrowing fit_doubt fit_warnings limit_warnings has_cost"
    ),
    TrialRecord: (
        "users name seconds interactions standing others used valid why cut_short interrupted censored late unclear"
    ),
    Neighbours: "mean least most quiet",
    QuietCapacity: "by users low high",
    Narrowing: "trials seconds least_users most_users in_words",
    FitDoubt: "draws undecided low high confidence search_low search_high fitted_users in_words",
    Target: "text measure command sense limit share",
    Saturation: "resource users",
    LoadPoint: (
        "users seconds interactions trials throughput response_s think_s verdicts utilisation cost_user_hour "
        "faults_a_command steady steady_why lost valid runs classes users_cpu_s others loading unanswered"
    ),
    MeasuredFigure: "value interval",
    TargetVerdict: "target standing value slow_share",
    ClassFigures: "name users throughput response_s think_s cpu_s",
    MixClass: "name weight",
    SearchLimits: "max_users said longest_s trials",
    Models: (
        "used think_s demands kinds delay_s saturation_users saturates bounds mean_values scalability law asked "
        "holds notes"
    ),
    Demand: "resource servers seconds by_users grows background",
    UserClassModel: "name weight think_s scale delay_s",
    JobBounds: "users most_throughput least_response_s balanced_most balanced_least quickest_s slowest_s",
    CapacityModel: "name curve throughput_miss response_miss held_out",
    ModelFigures: "users throughput response_s utilisation",
    ModelMiss: "users throughput response",
    FittedLaw: "law intervals covariance at_bound error freedom least_users most_users",
    Scalability: "alpha beta gamma",
    ModelTarget: "target resource limit ratio at_users",
    ModelCapacity: "by users at_least at_most target extrapolated reach",
}
