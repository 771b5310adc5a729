"""The JSON keys of simulations and metered commands, by type: `key`, or `key=field`."""

from __future__ import annotations

from loadgo.running.command_run import ColdFile, ColdStart, CommandRun, Wait4Usage
from loadgo.running.simulation import ClassResponses, LittleAudit, SimulatedFigure, SimulatedStation, Simulation

JSON_KEYS: dict[type, str] = {
    Simulation: (
        "title seed streams until end interactions simulated_s events seconds all response_by_law_s classes "
        "stations asking time little fit_warnings"
    ),
    ClassResponses: "name users throughput mean_s p50_s p90_s p95_s p99_s",
    SimulatedFigure: "value half_width lacking",
    SimulatedStation: "name servers utilisation queue requests response_s",
    LittleAudit: "counted computed holds verdict",
    CommandRun: (
        "stage real_ns cpu_user_ns cpu_system_ns faults_minor faults_major ready_wait_ns paging_wait_ns "
        "io_wait_ns max_resident_bytes waited exit_status signal left_running let_go lost cold interrupted"
    ),
    Wait4Usage: (
        "user_ns system_ns faults_minor faults_major max_resident_bytes switches_voluntary switches_involuntary"
    ),
    ColdStart: "files names_dropped",
    ColdFile: "path bytes stayed_bytes",
}
