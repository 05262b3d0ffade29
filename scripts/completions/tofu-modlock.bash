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
    "") mapfile -t COMPREPLY < <(compgen -W 'lock upgrade update install verify status inspect tree explain why outdated graph versions mirror sbom doctor cache help version hook merge serve call schema -h --help --help-all --version -q --quiet -v --verbose' -- "$word") ;;
    "lock") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --offline --include --dry-run --color --platform --minimum-release-age --install --overrides --no-overrides --frozen --accept-moved --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout --hashes --resolution --no-adopt' -- "$word") ;;
    "upgrade") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --offline --include --dry-run --color --platform --minimum-release-age --install --overrides --no-overrides --target --accept-moved --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout --hashes --resolution --no-adopt' -- "$word") ;;
    "update") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --list --from-diff --from-file --pin --include --accept-moved --dry-run --color --format --variable --var --var-file --offline --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "install") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --offline --overrides --no-overrides --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "verify") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --include --online --offline --strict --full --sarif --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "status") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --include --offline --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "inspect"|"tree") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version' -- "$word") ;;
    "explain"|"why") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --variable --var --var-file --offline --credentials --cache-dir --config-file --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "outdated") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --offline --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "graph") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --format --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version' -- "$word") ;;
    "versions") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --offline --constraint --tag-prefix --include-prerelease --cache-dir --config-file --git-engine --connections --fetch-timeout --implementation --implementation-version' -- "$word") ;;
    "mirror") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --chdir --variable --var --var-file --offline --cache-dir --config-file --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "sbom") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --chdir --recursive --name --root-glob --exclude' -- "$word") ;;
    "doctor") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --chdir --recursive --variable --var --var-file --offline --online --host --cache-dir --config-file --root-glob --exclude --jobs --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "cache") mapfile -t COMPREPLY < <(compgen -W 'info prune -h --help --help-all' -- "$word") ;;
    "cache info") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --cache-dir --config-file' -- "$word") ;;
    "cache prune") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --json --max-bytes --max-age --cache-dir --config-file' -- "$word") ;;
    "help") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose' -- "$word") ;;
    "version") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose' -- "$word") ;;
    "hook") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --variable --var --var-file --offline --unit --root --source --after --strict --allow-unchecked-source --upgrade --cache-dir --config-file --data-dir --workspace --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "merge") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --marker-size' -- "$word") ;;
    "serve") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --max-message-bytes --drain-ms' -- "$word") ;;
    "call") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose --params --offline --cache-dir --config-file --workspace-root --implementation --implementation-version --git-engine --connections --fetch-timeout' -- "$word") ;;
    "schema") mapfile -t COMPREPLY < <(compgen -W '-h --help --help-all -q --quiet -v --verbose openrpc jsonschema' -- "$word") ;;
  esac
  if [ ${#COMPREPLY[@]} -eq 0 ] && [[ $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  fi
}
complete -o filenames -F _tofu_modlock tofu-modlock
