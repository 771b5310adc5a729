"""Work spread over processes and hosts, by any executor of `concurrent.futures`."""
