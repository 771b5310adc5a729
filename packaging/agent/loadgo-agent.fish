# Lets fish complete loadgo-agent: its commands, their options and values, and the command that it runs.
complete -c loadgo-agent -f
complete -c loadgo-agent -n __fish_use_subcommand -a ready -d 'What a command used'
complete -c loadgo-agent -n __fish_use_subcommand -a meter -d 'Where the processor time of this host goes'
complete -c loadgo-agent -n __fish_use_subcommand -a doctor -d 'What can be measured here'
complete -c loadgo-agent -n __fish_use_subcommand -a version -d 'Prints the version'
complete -c loadgo-agent -n __fish_use_subcommand -a clear -d 'Undoes what killed agents have left'
complete -c loadgo-agent -n __fish_use_subcommand -a help -d 'Prints the usage'
complete -c loadgo-agent -n '__fish_seen_subcommand_from ready' -o n -x -d 'Medians of so many runs'
complete -c loadgo-agent -n '__fish_seen_subcommand_from ready' -l quiet-output -d 'Discards what the command prints'
complete -c loadgo-agent -n '__fish_seen_subcommand_from meter' -l for -x -a '10s 1min' -d 'How long'
complete -c loadgo-agent -n '__fish_seen_subcommand_from meter' -l meters -x -a 'none cheap cheap,locks cheap,profile sampled exact' -d 'Which meters'
complete -c loadgo-agent -n '__fish_seen_subcommand_from doctor' -l full -d 'Of each ability how'
complete -c loadgo-agent -n '__fish_seen_subcommand_from ready meter; and contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand --fcs-skip=3)'
