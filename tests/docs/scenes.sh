# The scenes of pages_test.py: scene_PAGE runs before the blocks of a page, in $SCENE; other functions are named by
# `<!-- before: FUNCTION -->`. $ROOT is the root module, $REPOSITORIES the directory of the git server.
set -e

export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
cat >"$HOME/.gitconfig" <<'TEXT'
[user]
  name = Example
  email = example@example.test
[init]
  defaultBranch = main
[advice]
  mergeConflict = false
TEXT

call() {  # NAME SOURCE [VERSION]
  printf 'module "%s" {\n  source = "%s"\n' "$1" "$2"
  [ -z "${3:-}" ] || printf '  version = "%s"\n' "$3"
  printf '}\n\n'
}

git_source() { printf 'git::https://git.example.test/%s.git' "$1"; }

# release NAME VERSION: commits the standard input as main.tf of a repository and tags it.
release() {
  local work="$SCENE/sources/$1"
  if [ ! -d "$work" ]; then
    git init --quiet "$work"
    git init --quiet --bare "$REPOSITORIES/$1.git"
  fi
  { cat; printf '# %s\n' "$2"; } >"$work/main.tf"
  git -C "$work" add --all
  git -C "$work" commit --quiet --message "$1 $2"
  git -C "$work" tag "v$2"
  git -C "$work" push --quiet --tags "$REPOSITORIES/$1.git" main
}

releases() {  # NAME VERSION...
  local name=$1 version
  shift
  for version in "$@"; do
    release "$name" "$version" </dev/null
  done
}

publish_modules() {
  local version
  releases label 0.3.0 0.3.1
  for version in 1.0.0 1.1.0 1.2.0 2.0.0; do
    call label "$(git_source label)?ref=v0.3.1" | release network "$version"
  done
}

# A checkout with a root module that calls `network`.
new_checkout() {
  cd "$ROOT"
  git init --quiet
  printf '.terraform\nout.*\n' >.gitignore
  call network "$(git_source network)" >main.tf
  printf 'module "network" {\n  version = "~> 1.1"\n}\n' >.tofu-modlock.hcl
  git add --all
  git commit --quiet --message "Call network"
}

commit() {
  git add --all
  git commit --quiet --message "$1"
}

locked_checkout() {
  publish_modules
  new_checkout
  tofu-modlock lock
  commit "Lock modules"
}

change_installed() { printf '# changed\n' >>"$ROOT/.terraform/modules/network/main.tf"; }
change_configuration() { printf 'output "cidr" {\n  value = 1\n}\n\n' >>"$ROOT/main.tf"; }

# Two packages of the provider hashicorp/aws in a file system mirror.
provider_mirror() {
  local version directory
  for version in 5.1.0 5.100.0 6.2.0; do
    directory="$SCENE/mirror/registry.opentofu.org/hashicorp/aws/$version/linux_amd64"
    mkdir -p "$directory"
    printf '#!/bin/sh\n# %s\n' "$version" >"$directory/terraform-provider-aws_v$version"
    chmod +x "$directory"/*
  done
  mkdir -p "$SCENE/mirror/registry.terraform.io"
  cp -r "$SCENE/mirror/registry.opentofu.org/hashicorp" "$SCENE/mirror/registry.terraform.io/"
  printf 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' "$SCENE/mirror" >"$HOME/.tofurc"
  cp "$HOME/.tofurc" "$HOME/.terraformrc"
}

require_aws() {
  printf 'terraform {\n  required_providers {\n    aws = {\n      source  = "hashicorp/aws"\n      version = "%s"\n    }\n  }\n}\n\n' "$1"
}

scene_problems() { :; }

# README.md

scene_readme() {
  publish_modules
  new_checkout
}

# A root module whose tag was moved after `lock`, in a new checkout.
move_a_tag() {
  rm .tofu-modlock.hcl
  call network "$(git_source network)?ref=v1.2.0" >main.tf
  tofu-modlock lock
  commit "Lock modules"
  git -C "$SCENE/sources/network" tag --force v1.2.0 v2.0.0
  git -C "$SCENE/sources/network" push --quiet --force --tags "$REPOSITORIES/network.git"
}

start_again() {
  git reset --quiet --hard HEAD~1
  rm -rf .terraform
}

# docs/first-lock.md: the page writes main.tf and .tofu-modlock.hcl.

scene_first_lock() {
  publish_modules
  git init --quiet "$ROOT"
  printf '.terraform\n' >"$ROOT/.gitignore"
}

newer_network() { call label "$(git_source label)?ref=v0.3.1" | release network 2.0.1; }
exclude_every_version() { sed -i 's/~> 2.0/~> 3.1/' "$ROOT/.tofu-modlock.hcl"; }

# Pages that begin with a locked root module.

scene_configuration() { locked_checkout; }
scene_install() { locked_checkout && mkdir -p "$HOME/.config/fish/completions"; }
scene_fleet() { locked_checkout; }
scene_clients() { locked_checkout; }
scene_settings() { :; }
scene_bad_release() { locked_checkout; }

# Root modules with a release that is denied: one has a constraint, two pin it.
pinned_roots() {
  git rm --quiet main.tf .terraform.lock.hcl
  rm -rf .terraform
  mkdir -p live/app live/db live/net
  call network "$(git_source network)?ref=v1.2.0" >live/app/main.tf
  cp live/app/main.tf live/db
  call network "$(git_source network)" >live/net/main.tf
  sed '/^deny/,$d' .tofu-modlock.hcl >live/net/.tofu-modlock.hcl
  sed '1,/^$/d' .tofu-modlock.hcl >deny.hcl
  rm .tofu-modlock.hcl
  tofu-modlock lock --recursive
  mv deny.hcl .tofu-modlock.hcl
  commit "Deny network 1.2.0"
}

scene_protocol() { locked_checkout; }
scene_sbom() { locked_checkout; }

scene_release_age() {
  locked_checkout
  tofu-modlock install
  printf '\nsource "*" {\n  minimum_release_age = "3d"\n}\n' >> .tofu-modlock.hcl
}

scene_upgrade() { locked_checkout; }

scene_verdicts() {
  locked_checkout
  tofu-modlock install
}

# docs/lock-format.md: an unpacked tarball has check-lock.
scene_lock_format() {
  locked_checkout
  tofu-modlock install
  mkdir -p "$SCENE/opt/tofu-modlock/share/tofu-modlock"
  ln -s "$PROJECT/scripts/check-lock" "$SCENE/opt/tofu-modlock/share/tofu-modlock"
}

scene_wrapper() {
  publish_modules
  new_checkout
  ln -s "$PROJECT/scripts" "$ROOT/scripts"
}

# docs/clients.md: a root module with a `version` argument on a git source, which only OpenTofu accepts.

version_of_git() {
  git init --quiet "$SCENE/version_of_git"
  cd "$SCENE/version_of_git"
  call network "$(git_source network)" '~> 1.1' >main.tf
  export TOFU_MODLOCK_IMPLEMENTATION=opentofu
  tofu-modlock lock
  tofu version | grep -q '^OpenTofu' || ln -sf "$HERE/stand_ins/client" "$SCENE/bin/tofu"
}

# docs/providers.md

scene_providers() {
  publish_modules
  new_checkout
  provider_mirror
  { require_aws '~> 5.0'; cat main.tf; } >both.tf
  mv both.tf main.tf
}

# docs/credentials.md: a login of docker, and an entry in the CLI configuration that it hides.

scene_credentials() {
  printf '\n\noci_credentials "ghcr.io" {\n  username = "reader"\n  password = "%s"\n}\n' "$PASSWORD" >"$HOME/.tofurc"
  cp "$HOME/.tofurc" "$HOME/.terraformrc"
  echo "$PASSWORD" | docker login ghcr.io/team --username reader --password-stdin
}

# docs/backends.md: the page writes the backend.

scene_backends() {
  printf 'module "net" {\n  source = "shelf::https://example.com/net"\n}\n' >"$ROOT/main.tf"
  mkdir -p "$HOME/.config/tofu-modlock"
  printf 'backend "shelf" {\n  command = ["%s/bin/shelf-backend"]\n}\n' "$SCENE" >"$HOME/.config/tofu-modlock/config.hcl"
}

allow_to_run() { chmod +x "$SCENE/bin/shelf-backend"; }

# docs/ci.md: two root modules, of which one is new in the second block.

scene_ci() {
  publish_modules
  cd "$ROOT"
  git init --quiet
  printf '.terraform\n' >.gitignore
  mkdir -p live/app
  call network "$(git_source network)?ref=v1.2.0" >live/app/main.tf
  tofu-modlock lock --recursive
  commit "Lock modules"
}

new_root() {
  mkdir -p live/new
  call network "$(git_source network)?ref=v1.0.0" >live/new/main.tf
}

# docs/bots.md: a branch on which a bot changed a version.

scene_bots() {
  locked_checkout
  git clone --quiet --bare . "$SCENE/origin.git"
  git remote add origin "$SCENE/origin.git"
  git fetch --quiet origin
  git switch --quiet -c bot
  sed -i 's/~> 1.1/~> 2.0/' .tofu-modlock.hcl
  commit "Update network"
}

# docs/diff.md
scene_diff() { locked_checkout; }

# docs/updating.md

scene_updating() {
  publish_modules
  releases dns 2.0.0 2.1.0
  provider_mirror
  cd "$ROOT"
  git init --quiet
  printf '.terraform\n' >.gitignore
  require_aws '~> 5.0' >main.tf
  call network "$(git_source network)" >>main.tf
  call dns "$(git_source dns)?ref=v2.0.0" >>main.tf
  printf 'module "network" {\n  version = "~> 1.1"\n}\n' >.tofu-modlock.hcl
  tofu-modlock lock
  commit "Lock modules"
  mkdir -p live/prod live/staging
  for directory in live/prod live/staging; do
    call network "$(git_source network)" >$directory/main.tf
  done
  git clone --quiet --bare . "$SCENE/origin.git"
  git remote add origin "$SCENE/origin.git"
  git fetch --quiet origin
}

# docs/team.md: two branches that changed the lock file, then a renamed call, and so on.

scene_team() {
  releases network 1.2.0
  releases storage 2.1.0
  cd "$ROOT"
  git init --quiet
  printf '.terraform\n' >.gitignore
  call network "$(git_source network)" >main.tf
  printf 'module "network" {\n  version = "~> 1.0"\n}\n' >.tofu-modlock.hcl
  tofu-modlock lock
  commit "Lock modules"
  git switch --quiet -c topic
  releases network 1.3.0
  tofu-modlock upgrade
  call storage "$(git_source storage)?ref=v2.1.0" >storage.tf
  tofu-modlock lock
  commit "Upgrade network on the topic branch"
  git switch --quiet main
  releases network 1.4.0
  tofu-modlock upgrade
  commit "Upgrade network"
}

rename_call() {
  commit "Merge topic"
  mkdir app
  printf 'module "app" {\n  source = "./app"\n}\n' >app.tf
  mv main.tf app/main.tf
  sed -i 's/"network"/"app.network"/' .tofu-modlock.hcl
}

monorepo() {
  rm -r app app.tf storage.tf .tofu-modlock.hcl .terraform.lock.hcl
  for directory in live/app live/db; do
    mkdir -p $directory
    call network "$(git_source network)?ref=main" >$directory/main.tf
  done
}

# A client dropped the module blocks, and the file was committed.
shallow_clone() {
  commit "Call network"
  printf '# This file is maintained automatically by "tofu init".\n' >live/app/.terraform.lock.hcl
  commit "Run init"
  git clone --quiet --depth 1 "file://$ROOT" "$SCENE/shallow"
  cd "$SCENE/shallow/live/app"
}

# docs/terragrunt.md

scene_terragrunt() {
  publish_modules
  cd "$ROOT"
  git init --quiet
  mkdir -p live/vpc
  call network "$(git_source network)?ref=v1.2.0" >live/vpc/main.tf
  printf '\n' >live/vpc/terragrunt.hcl
  cd live/vpc
}

# docs/private-sources.md: every recipe begins without credentials, in a job that has its token in the environment.

scene_private_sources() {
  export TOFU_MODLOCK_IMPLEMENTATION=opentofu
  publish_modules
  call network git::https://github.com/acme/network.git >"$ROOT/main.tf"
}

new_job() {
  rm -rf "$HOME/.docker" "$HOME/.netrc" "$HOME/.tofurc" "$HOME/.gitconfig" "$HOME/.git-credentials"
  unset GIT_CONFIG_COUNT "${!TF_TOKEN_@}"
}

github_job() {
  new_job
  export GITHUB_TOKEN=$PASSWORD GITHUB_ACTOR=reader
}

github_helper() {
  github_job
  git config --global credential.https://github.com.helper '!f() { echo username=x-access-token; echo "password=$GITHUB_TOKEN"; }; f'
}

gitlab_job() {
  new_job
  export CI_JOB_TOKEN=$PASSWORD
}

azure_job() {
  new_job
  export SYSTEM_ACCESSTOKEN=$PASSWORD
}

bitbucket_job() {
  new_job
  export MODULES_TOKEN=$PASSWORD
}

forgejo_job() { bitbucket_job; }
artifactory_job() { bitbucket_job; }

artifactory_archive() {
  bitbucket_job
  call network https://example.jfrog.io/archives/network.tar.gz >main.tf
}

harbor_job() {
  new_job
  export ROBOT_SECRET=$PASSWORD
}

ecr_job() { :; }

no_ecr_helper() { rm "$SCENE/bin/docker-credential-ecr-login"; }

hcp_job() {
  new_job
  export HCP_TOKEN=$PASSWORD
}

# docs/restricted-network.md: a root module whose sources a machine of the network does not reach.

scene_restricted_network() {
  publish_modules
  export OUTSIDE_PROXY=$HTTPS_PROXY TOFU_MODLOCK_IMPLEMENTATION=opentofu
  cd "$ROOT"
  git init --quiet
  printf '.terraform\n' >.gitignore
  call network 'git::https://github.com/acme/network.git?ref=v1.2.0' >main.tf
  tofu version | grep -q '^OpenTofu' || ln -sf "$HERE/stand_ins/client" "$SCENE/bin/tofu"  # Terraform has no oci://
  inside
}

# A new machine of the network: it has the checkout, and no cache.
inside() {
  rm -rf "$HOME/.cache" "$HOME/.gitconfig" "$HOME/.docker" "$HOME/.netrc" .terraform
  unset TOFU_MODLOCK_REMOTE
  export HTTPS_PROXY=$INSIDE_PROXY https_proxy=$INSIDE_PROXY
  echo "$PASSWORD" | docker login oci.corp.example --username reader --password-stdin
  ! tofu-modlock versions git::https://github.com/acme/network.git  # the network is restricted
}

# A machine that reaches the sources, with a login for them.
beyond() {
  inside
  export HTTPS_PROXY=$OUTSIDE_PROXY https_proxy=$OUTSIDE_PROXY
  rm -f .terraform.lock.hcl "$HOME/.tofurc"
  {
    call network 'oci://ghcr.io/acme/network?tag=1.0.0'
    call archive https://example.jfrog.io/archives/network.tar.gz
    call git "$(git_source label)?ref=v0.3.1"
  } >main.tf
  printf 'machine example.jfrog.io login reader password %s\n' "$PASSWORD" >"$HOME/.netrc"
  local auth
  auth=$(printf 'reader:%s' "$PASSWORD" | base64 -w 0)
  printf '{"auths": {"ghcr.io": {"auth": "%s"}, "oci.corp.example": {"auth": "%s"}}}\n' "$auth" "$auth" >"$HOME/.docker/config.json"
}

call_of_a_registry() {
  inside
  call vpc acme/vpc/aws '~> 1.0' >main.tf
}

call_of_a_provider() {
  inside
  cp "$HOME/.tofurc" "$SCENE/tofurc"  # that of the page
  provider_mirror
  cp "$SCENE/tofurc" "$HOME/.tofurc"
  require_aws '~> 5.0' >main.tf
}

# docs/adoption.md: a repository with three root modules and a shared local module; the modules of one are installed.

scene_adoption() {
  publish_modules
  cd "$ROOT"
  git init --quiet
  printf '.terraform\n' >.gitignore
  mkdir -p live/app live/db live/net modules/dns
  call network "$(git_source network)?ref=v1.2.0" >live/app/main.tf
  call dns ../../modules/dns >live/db/main.tf
  call network "$(git_source network)?ref=main" >live/net/main.tf
  call label "$(git_source label)" >modules/dns/main.tf
  commit "Infrastructure"
}

revert_later() { git branch locked; }
back_to_week_two() { git reset --quiet --hard locked; }

update_one() {
  commit "Lock everything"
  rm .tofu-modlock.hcl
  sed -i 's/v1.2.0/v2.0.0/' live/app/main.tf
  tofu-modlock lock live/app
  commit "Update network"
}
