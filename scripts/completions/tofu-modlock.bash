# Completion of tofu-modlock for bash. Written by scripts/command-pages.

_tofu_modlock() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  if [ "$command" = cache ] && [ "$COMP_CWORD" -gt 2 ]; then
    command="cache ${COMP_WORDS[2]}"
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    command=
  fi
  case "$before" in
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$word") && return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W 'mermaid dot' -- "$word") && return ;;
    --git-engine) mapfile -t COMPREPLY < <(compgen -W 'auto libgit2 git' -- "$word") && return ;;
    --hashes) mapfile -t COMPREPLY < <(compgen -W 'superset init providers-lock' -- "$word") && return ;;
    --implementation) mapfile -t COMPREPLY < <(compgen -W 'opentofu terraform' -- "$word") && return ;;
    --include) mapfile -t COMPREPLY < <(compgen -W 'modules providers' -- "$word") && return ;;
    --pin) mapfile -t COMPREPLY < <(compgen -W 'tag immutable' -- "$word") && return ;;
    --resolution) mapfile -t COMPREPLY < <(compgen -W 'auto unified per-call' -- "$word") && return ;;
    --allow-unchecked-source|--cache-dir|--chdir|--config-file|--connections|--constraint|--credentials|--data-dir|--drain-ms|--exclude|--fetch-timeout|--from-diff|--from-file|--host|--implementation-version|--jobs|--marker-size|--max-age|--max-bytes|--max-message-bytes|--minimum-release-age|--name|--params|--platform|--root|--root-glob|--source|--tag-prefix|--target|--unit|--var-file|--variable|--var|--workspace|--workspace-root) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
  esac
  case "$command" in
    "") mapfile -t COMPREPLY < <(compgen -W 'lock upgrade update install verify inspect graph versions explain sbom merge cache mirror hook doctor serve call schema -h --help --version' -- "$word") ;;
    "lock") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout --include --dry-run --color --platform --hashes --resolution --minimum-release-age --no-adopt --install --overrides --no-overrides --frozen --accept-moved' -- "$word") ;;
    "upgrade") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout --include --dry-run --color --platform --hashes --resolution --minimum-release-age --no-adopt --install --overrides --no-overrides --target --accept-moved' -- "$word") ;;
    "update") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --list --from-diff --from-file --pin --include --accept-moved --dry-run --color --format --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout' -- "$word") ;;
    "install") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout --overrides --no-overrides' -- "$word") ;;
    "verify") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --include --online --offline --git-engine --connections --fetch-timeout --strict --full --sarif' -- "$word") ;;
    "inspect") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version' -- "$word") ;;
    "graph") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --format' -- "$word") ;;
    "versions") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --offline --git-engine --connections --fetch-timeout --implementation --implementation-version --constraint --tag-prefix --include-prerelease' -- "$word") ;;
    "explain") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout --credentials' -- "$word") ;;
    "sbom") mapfile -t COMPREPLY < <(compgen -W '-h --help --chdir --recursive --root-glob --exclude --name' -- "$word") ;;
    "merge") mapfile -t COMPREPLY < <(compgen -W '-h --help --marker-size' -- "$word") ;;
    "cache") mapfile -t COMPREPLY < <(compgen -W 'info prune -h --help' -- "$word") ;;
    "cache info") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json' -- "$word") ;;
    "cache prune") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --max-bytes --max-age' -- "$word") ;;
    "mirror") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --chdir --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout' -- "$word") ;;
    "hook") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout --unit --root --source --after --strict --allow-unchecked-source --upgrade' -- "$word") ;;
    "doctor") mapfile -t COMPREPLY < <(compgen -W '-h --help --cache-dir --config-file --json --chdir --recursive --root-glob --exclude --jobs --data-dir --variable --var --var-file --workspace --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout --online --host' -- "$word") ;;
    "serve") mapfile -t COMPREPLY < <(compgen -W '-h --help --max-message-bytes --drain-ms' -- "$word") ;;
    "call") mapfile -t COMPREPLY < <(compgen -W '-h --help --params --cache-dir --config-file --workspace-root --implementation --implementation-version --offline --git-engine --connections --fetch-timeout' -- "$word") ;;
    "schema") mapfile -t COMPREPLY < <(compgen -W '-h --help openrpc jsonschema' -- "$word") ;;
  esac
  if [ ${#COMPREPLY[@]} -eq 0 ] && [[ $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  fi
}
complete -o filenames -F _tofu_modlock tofu-modlock
