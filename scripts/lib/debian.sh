# shellcheck shell=bash
# Debian packages of another suite, fetched with a private apt configuration: nothing on the machine changes.
# Sourced by the engine scripts; needs bash, apt and the package debian-archive-keyring.

say() { echo "${0##*/}: $*" >&2; }
die() {
  say "$*"
  exit 1
}

# The suite fixes the versions: forky moves, so a server is refused when it is not the one expected here.
pg_major() {
  case $1 in
    forky) echo 18 ;;
    trixie) echo 17 ;;
    *) die "suite '$1' is not known; use forky (PostgreSQL 18, AGE 1.8) or trixie (PostgreSQL 17, AGE 1.5)" ;;
  esac
}
age_version() { case $1 in forky) echo 1.8 ;; trixie) echo 1.5 ;; esac }

# What a server without JIT, Perl and maintainer scripts can do without: 127 MB of LLVM to begin with.
UNNEEDED='perl|perl-.*|libperl5.*|lib.*-perl|debconf|libdebconf.*|adduser|passwd|init-system-helpers|libllvm.*|libz3-.*'
UNNEEDED+='|libedit2|libffi8|libbsd0|libdb5.*|libgdbm.*|locales|.*-locales|libc-l10n|libsemanage.*|libsepol2|login\.defs'
UNNEEDED+='|openssl|openssl-provider-legacy|postgresql-common.*|procps|libproc2.*|sysvinit-utils|ucf|ssl-cert'
UNNEEDED+='|sensible-utils|libsasl2-modules.*|libxslt1.*|gcc-[0-9]+-base|libaudit-common|login'

# The machine's own main mirror: from apt's parsed configuration, else from its files.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(REPO_URI) $(RELEASE)' 2>/dev/null |
    awk '$1 == "Packages" && $2 == "main" && $4 ~ /^(bookworm|trixie|forky|stable|testing|sid)$/ {print $3; exit}')
  [ -n "$mirror" ] || mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
  [ -n "$mirror" ] || mirror=$(awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' \
    /etc/apt/sources.list 2>/dev/null || true)
  [ -n "$mirror" ] || die "no Debian mirror in apt's configuration; this needs Debian 12 or newer"
  echo "$mirror"
}

# with_retries COMMAND...: three tries, for mirrors that are in the middle of an update
with_retries() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    say "try $try failed: $*"
    sleep $((try * 2))
  done
  return 1
}

# private_apt SUITE FOLDER: from here on apt works in FOLDER, on SUITE, and touches nothing else
private_apt() {
  local suite=$1 folder=$2 keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror
  [ -e "$keyring" ] || die "$keyring is missing; install debian-archive-keyring"
  mirror=$(debian_mirror)
  rm -rf "$folder"
  mkdir -p "$folder"/{lists,cache/archives}/partial "$folder/debs"
  : >"$folder/status" # an empty one: the closure of a package then includes libc and its like
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$folder/sources.list"
  cat >"$folder/apt.conf" <<CONF
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
APT::Sandbox::User "root";
Acquire::Retries "3";
Acquire::Languages "none";
CONF
  export APT_CONFIG=$folder/apt.conf
  with_retries apt-get -qq update || die "apt-get update of $suite failed"
}

# closure UNNEEDED PACKAGE...: names of the packages and of all they depend on, less the unneeded
closure() {
  local unneeded=$1
  shift
  apt-get install -y --no-install-recommends --print-uris "$@" |
    awk -F"[' ]+" "/^'/ {sub(/_.*/, \"\", \$3); print \$3}" | grep -Evx "$unneeded"
}

# download FOLDER PACKAGE...: the .debs of just these, into FOLDER/debs
download() {
  local folder=$1
  shift
  (cd "$folder/debs" && with_retries apt-get -qq download "$@") || die "downloading failed: $*"
}
