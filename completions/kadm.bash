# Completion of kadm in bash: source <(kadm completion bash)

_kadm() {
    local IFS=$'\n' found
    found=$(COMP_WORDS="$(IFS=' '; echo "${COMP_WORDS[*]}")" COMP_CWORD=$COMP_CWORD \
        _KADM_COMPLETE=complete_bash "$1" 2>/dev/null)
    COMPREPLY=($found)
}

complete -o default -F _kadm kadm kubectl-kadm
