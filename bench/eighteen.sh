#!/bin/sh
# A script that forks and executes: eighteen small programs, so many times.
i=0
while [ $i -lt "$1" ]; do
    for n in 1 2 3; do
        date
        ls /
        cat /etc/passwd
        wc -l /etc/passwd
        true
        uname -a
    done
    i=$((i + 1))
done >/dev/null
