# Completion of kadm in fish: put this as kadm.fish into ~/.config/fish/completions.

function __kadm_complete
    _TYPER_COMPLETE_FISH_ACTION=$argv[1] _TYPER_COMPLETE_ARGS=(commandline -cp) _KADM_COMPLETE=complete_fish \
        kadm 2>/dev/null
end

complete --command kadm --no-files --condition '__kadm_complete is-args' --arguments '(__kadm_complete get-args)'
