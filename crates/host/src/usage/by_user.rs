//! A value for each user, by the users' numbers, which may begin with any number.

use loadgo_core::system::UserId;
use std::ops::{Index, IndexMut};

/// A value for each user from the first on.
#[derive(Debug)]
pub(crate) struct ByUser<T> {
    first_user: UserId,
    values: Vec<T>,
}

impl<T: Default> ByUser<T> {
    /// Values of `users` users from `first_user` on.
    pub(crate) fn new(first_user: UserId, users: usize) -> ByUser<T> {
        let mut values = Vec::new();
        values.resize_with(users, T::default);
        ByUser { first_user, values }
    }

    /// The value of `user`; `None` for a user who has none.
    pub(crate) fn get(&self, user: UserId) -> Option<&T> {
        self.values.get(user.checked_sub(self.first_user)? as usize)
    }

    /// Makes room for the value of `user`.
    pub(crate) fn extend_to(&mut self, user: UserId) {
        let needed = (user - self.first_user) as usize + 1;
        if self.values.len() < needed {
            self.values.resize_with(needed, T::default);
        }
    }
}

impl<T> Index<UserId> for ByUser<T> {
    type Output = T;
    fn index(&self, user: UserId) -> &T {
        &self.values[(user - self.first_user) as usize]
    }
}

impl<T> IndexMut<UserId> for ByUser<T> {
    fn index_mut(&mut self, user: UserId) -> &mut T {
        &mut self.values[(user - self.first_user) as usize]
    }
}
