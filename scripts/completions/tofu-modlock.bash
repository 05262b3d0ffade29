# Completion of tofu-modlock for bash. Printed by `tofu-modlock completion bash`.
_tofu_modlock() {
  local line=${COMP_LINE:0:COMP_POINT} words found word
  read -ra words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then
    words+=("")
  fi
  word=${words[-1]}
  mapfile -t found < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  case "${found[0]-}" in
    :files) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}") ;;
    :directories) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "${word#*=}") ;;
    *)
      # bash replaces only what follows the last of these characters.
      local kept=${word%"${word##*[=:]}"}
      COMPREPLY=("${found[@]%%$'\t'*}")
      COMPREPLY=("${COMPREPLY[@]#"$kept"}")
      if [[ ${COMPREPLY[0]-} == *= ]]; then
        compopt -o nospace
      fi
      ;;
  esac
}
complete -F _tofu_modlock tofu-modlock
