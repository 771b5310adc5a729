"""The JSON keys of a capacity, type by type: `key`, or `key=field` where the field has another name."""

from __future__ import annotations

from loadgo.sizing.curve import Class, ClassPoint, Figure, Point, Target, Verdict
from loadgo.sizing.models.answers import Asked, Holds
from loadgo.sizing.models.basis import Kind
from loadgo.sizing.models.demands import Demand
from loadgo.sizing.models.extrapolation import At
from loadgo.sizing.models.models import Miss, Model, Models
from loadgo.sizing.results import Capacity, Limits, Saturation
from loadgo.theory.job_bounds import JobBounds
from loadgo.theory.scalability import FittedLaw, Scalability

JSON_KEYS: dict[type, str] = {
    Capacity: (
        "bad script on targets end answer interval confidence in_words binding saturates_first points "
        "interactions_spent trials seconds classes limits servers currency models notes"
    ),
    Target: "text measure command sense limit share",
    Saturation: "resource users",
    Point: (
        "users seconds interactions trials throughput response_s think_s verdicts utilisation cost_user_hour "
        "faults_a_command steady steady_why lost valid runs classes users_cpu_s others"
    ),
    Figure: "value interval",
    Verdict: "target standing value slow_share",
    ClassPoint: "name users throughput response_s think_s cpu_s",
    Class: "name weight",
    Limits: "max_users said longest_s trials",
    Models: (
        "used think_s demands kinds delay_s saturation_users saturates bounds mean_values scalability law asked "
        "holds notes"
    ),
    Demand: "resource servers seconds by_users grows background",
    Kind: "name weight think_s scale delay_s",
    JobBounds: "users most_throughput least_response_s balanced_most balanced_least quickest_s slowest_s",
    Model: "name curve throughput_miss response_miss held_out",
    At: "users throughput response_s utilisation",
    Miss: "users throughput response",
    FittedLaw: "law intervals covariance at_bound error freedom least_users most_users",
    Scalability: "alpha beta gamma",
    Asked: "target resource limit ratio at_users",
    Holds: "by users at_least at_most target extrapolated reach",
}
