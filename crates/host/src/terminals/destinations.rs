//! The hosts that users log in to: each has a range of users, a log-in command, and perhaps an agent.

use crate::terminals::login::Login;
use crate::terminals::next_lines::NextLines;
use loadgo_core::system::UserId;

/// A range of users, and the host that they log in to.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The last of its users. The first follows the last user of the destination before.
    pub last_user: UserId,
    /// The log-in command with the path of its program.
    pub login: Login,
    /// Where sessions announce themselves to an agent on that host. Such users log out [`LOG_OUT_PAUSE`] later, so that the agent
    /// has read what their last line used.
    ///
    /// [`LOG_OUT_PAUSE`]: crate::terminals::host::LOG_OUT_PAUSE
    pub announced_in: Option<String>,
    /// The way to that agent for the news which line a user types next.
    pub next_lines: Option<NextLines>,
}

/// All destinations of a run, in the order of their users. Their log-in commands are of one kind.
#[derive(Clone, Debug)]
pub struct Destinations(Vec<Destination>);

impl Destinations {
    /// These destinations, of which there is at least one.
    pub fn new(destinations: Vec<Destination>) -> Destinations {
        assert!(!destinations.is_empty(), "users log in somewhere");
        assert!(destinations.is_sorted_by(|one, next| one.last_user < next.last_user), "each destination has users");
        Destinations(destinations)
    }

    /// One destination for all users, without an agent.
    pub fn one(login: Login) -> Destinations {
        Destinations::new(vec![Destination { last_user: UserId::MAX, login, announced_in: None, next_lines: None }])
    }

    /// The log-in command of the first users. All others are of its kind.
    pub fn login(&self) -> &Login {
        &self.0[0].login
    }

    /// The index of the destination of `user`. Users after the last range belong to the last destination.
    pub(crate) fn index_of(&self, user: UserId) -> usize {
        self.0.partition_point(|destination| destination.last_user < user).min(self.0.len() - 1)
    }

    /// The destination of `user`.
    pub(crate) fn of(&self, user: UserId) -> &Destination {
        &self.0[self.index_of(user)]
    }

    /// All destinations, in the order of their users.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Destination> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_the_destination_of_the_own_range() {
        let login = Login::find("true", "/usr/bin:/bin").expect("true is there");
        let destination = |last_user| Destination { last_user, login: login.clone(), announced_in: None, next_lines: None };
        let destinations = Destinations::new(vec![destination(2), destination(3), destination(7)]);
        let indices: Vec<_> = (1..=8).map(|user| destinations.index_of(user)).collect();
        assert_eq!(indices, [0, 0, 1, 2, 2, 2, 2, 2]);
    }
}
