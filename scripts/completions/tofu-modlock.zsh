#compdef tofu-modlock
# Completion of tofu-modlock for zsh. Printed by `tofu-modlock completion zsh`.
_tofu-modlock() {
  local line
  local -a found texts
  found=("${(@f)$("${(Q)words[1]}" complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  case "$found[1]" in
    '') return 1 ;;
    :files) compset -P '*=' ; _files ;;
    :directories) compset -P '*=' ; _files -/ ;;
    *)
      for line in $found; do
        texts+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
      done
      if [[ $found[1] == *=($'\t'*|) ]]; then
        _describe -t values 'tofu-modlock' texts -S ''
      else
        _describe -t values 'tofu-modlock' texts
      fi
      ;;
  esac
}
if [[ $funcstack[1] == _tofu-modlock ]]; then
  _tofu-modlock "$@"
else
  compdef _tofu-modlock tofu-modlock
fi
