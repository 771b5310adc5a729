"""The JSON keys of transfers, type by type: `key`, or `key=field` where the field has another name."""

from __future__ import annotations

from loadgo.running.json_keys import JSON_KEYS as COMMAND_KEYS
from loadgo.transfers.analysis import Apart
from loadgo.transfers.command import CommandTransfer, Moved, NetworkInterrupts
from loadgo.transfers.compared import Ends, Level, Times
from loadgo.transfers.crossing import Crossing
from loadgo.transfers.csv_table import Observed, Table
from loadgo.transfers.parts import Line, Part, Parts
from loadgo.transfers.prices import Prices
from loadgo.transfers.remedies import Saving
from loadgo.transfers.row import Row
from loadgo.transfers.stretch import StretchBand

JSON_KEYS: dict[type, str] = {
    **COMMAND_KEYS,
    Row: (
        "side direction method message_bytes bytes wire_bytes counted_bytes messages calls real_s thread_s user_s "
        "system_s soft_interrupt_s interrupt_s interrupts_upon_s interrupts_by interrupts_clocked "
        "interrupts_error_s interrupts_why faults_minor faults_major switches_voluntary switches_involuntary "
        "load_5min broke_off cpu_s interrupt_work_s bits_per_s cpu_s_per_bit"
    ),
    Prices: "currency cpu_hour network_gigabyte about",
    CommandTransfer: (
        "command run kinds interrupts held unsent lost load_5min sources notes status moved bytes real_s cpu_s user_s "
        "system_s interrupts_s bits_per_s cpu_s_per_bit left_behind"
    ),
    Moved: "kind sockets sent received sent_again sends receives segments_sent segments_received",
    NetworkInterrupts: "soft_s hard_s inside_s unknown_s all_s packets packets_all",
    Apart: "table kinds lines prices ends levels crossings load pooled stretches",
    Table: "name transfers contradictions left_out remarks slight estimated",
    Observed: "place direction method bytes cpu_s real_s messages faults load message",
    Parts: "kind transfers parts untold off",
    Part: "of each_s interval share",
    Line: "what transfers at_none at_none_interval slope slope_interval",
    Ends: "method compared receives alike",
    Times: "times interval",
    Level: "load transfers cpu real stretch",
    StretchBand: "method lowest_load highest_load transfers median interval middle_half",
    Crossing: "kind of each a_byte network where size",
    Saving: "method side direction rounds cpu_s_per_bit over",
}
