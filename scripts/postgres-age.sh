#!/usr/bin/env bash
# A PostgreSQL server with Apache AGE on 127.0.0.1, from Debian's packages, without touching the machine.
#
#   scripts/postgres-age.sh start     starts it (unpacking the packages the first time) and prints its DSN
#   scripts/postgres-age.sh stop      stops it; its data stay until the folder is deleted
#   scripts/postgres-age.sh status    says whether it runs; exit status 3 if not
#   scripts/postgres-age.sh dsn       prints its DSN
#
# Works on Debian 12 and newer, as root or not. Every server is one folder and one port:
#   GRAPHPORT_PG_SUITE   forky (PostgreSQL 18, AGE 1.8; the default) or trixie (PostgreSQL 17, AGE 1.5)
#   GRAPHPORT_PG_HOME    the server's folder; where its system user may not enter it (below /root), the server will not start
#   GRAPHPORT_PG_PORT    5455 (forky) or 5456 (trixie)
#   GRAPHPORT_PG_CACHE   where the unpacked packages are kept, 150 MB a suite; shared by all servers
#
# The packages are not installed: they are unpacked into a folder and run with that folder's own loader
# and C library, so a Debian 12 runs the servers of 13 and 14.
set -euo pipefail
source "$(dirname "$(readlink -f "$0")")/lib/debian.sh"

SUITE=${GRAPHPORT_PG_SUITE:-forky}
MAJOR=$(pg_major "$SUITE")
CACHE=${GRAPHPORT_PG_CACHE:-/var/tmp/graphport-postgres-$(id -u)}
HOME_DIR=${GRAPHPORT_PG_HOME:-$CACHE/server-$SUITE}
PORT=${GRAPHPORT_PG_PORT:-$((5455 + 18 - MAJOR))}
PREFIX=$CACHE/$SUITE
BIN=$PREFIX/usr/lib/postgresql/$MAJOR/bin
DATA=$HOME_DIR/data
LOG=$HOME_DIR/server.log
DSN="host=127.0.0.1 port=$PORT user=postgres dbname=postgres"

own_folder() { # a folder in /var/tmp that somebody else made is not trusted
  mkdir -p "$1"
  [ "$(stat -c %u "$1")" = "$(id -u)" ] || die "$1 belongs to somebody else; set GRAPHPORT_PG_CACHE or GRAPHPORT_PG_HOME"
}

# PostgreSQL refuses to run as root: it then runs as postgres, else as nobody.
pick_user() {
  as_server=(env -i LC_ALL=C.UTF-8 PATH=/usr/bin:/bin)
  server_uid=$(id -u)
  [ "$server_uid" = 0 ] || return 0
  local name=nobody
  if getent passwd postgres >/dev/null; then name=postgres; fi
  server_uid=$(id -u "$name")
  if [ -d "$DATA" ]; then server_uid=$(stat -c %u "$DATA"); fi
  as_server=(setpriv --reuid "$server_uid" --regid "$(id -g "$name")" --clear-groups -- "${as_server[@]}")
}

unpack() {
  [ -e "$PREFIX/.complete" ] && return 0
  say "unpacking PostgreSQL $MAJOR and AGE of $SUITE into $PREFIX"
  local work=$CACHE/fetch-$SUITE packages deb
  rm -rf "$PREFIX"
  mkdir -p "$PREFIX"
  private_apt "$SUITE" "$work"
  packages=$(closure "$UNNEEDED|base-passwd|netbase|libncursesw6|libpcre2.*|libselinux1|libpam-modules.*|libc-bin|libuuid1" \
    "postgresql-$MAJOR-age") || die "$SUITE has no installable postgresql-$MAJOR-age"
  # shellcheck disable=SC2086 # one word a package
  download "$work" $packages
  unset APT_CONFIG
  for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$PREFIX" || die "cannot unpack $deb"; done
  rm -f "$PREFIX/usr/lib/postgresql/$MAJOR/lib/llvmjit.so" # LLVM was left out, so the server must not try it
  wrap_programs
  check_versions
  rm -rf "$work"
  touch "$PREFIX/.complete"
}

# Each program becomes a call of the folder's loader; --argv0 keeps its own path in argv[0], from which
# PostgreSQL finds its share and lib folders.
wrap_programs() {
  local loader libraries program real=$PREFIX/usr/lib/postgresql/$MAJOR/bin.real
  loader=$(find "$PREFIX/usr/lib" "$PREFIX/usr/lib64" -name 'ld-linux-*.so.*' 2>/dev/null | head -1)
  libraries=$(dirname "$(find "$PREFIX/usr/lib" -name libc.so.6 | head -1)")
  [ -x "$loader" ] || die "no loader in $PREFIX"
  mv "$BIN" "$real"
  mkdir "$BIN"
  for program in "$real"/*; do
    program=${program##*/}
    printf '#!/bin/sh\nexec "%s" --argv0 "%s" --library-path "%s" "%s" "$@"\n' \
      "$loader" "$BIN/$program" "$libraries" "$real/$program" >"$BIN/$program"
    chmod 755 "$BIN/$program"
  done
}

check_versions() {
  local program found
  for program in postgres initdb pg_ctl psql; do
    "$BIN/$program" --version >/dev/null || die "$BIN/$program does not run: is a library among the packages left out?"
  done
  found=$(sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "$PREFIX/usr/share/postgresql/$MAJOR/extension/age.control")
  case $found in
    "$(age_version "$SUITE")"*) ;;
    *) die "$SUITE now has AGE $found instead of $(age_version "$SUITE"): adapt scripts/lib/debian.sh" ;;
  esac
}

create_data() {
  rm -rf "$DATA"
  mkdir -p "$DATA"
  : >"$LOG"
  chown "$server_uid" "$DATA" "$LOG"
  "${as_server[@]}" "$BIN/initdb" -D "$DATA" -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 -N \
    >"$HOME_DIR/initdb.log" 2>&1 9>&- || die "initdb failed: $(tail -3 "$HOME_DIR/initdb.log")"
  cat >>"$DATA/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
session_preload_libraries = 'age'
# for tests and trying out: a crash of the machine may lose the data, a crash of the server may not
fsync = off
full_page_writes = off
jit = off
shared_buffers = 256MB
work_mem = 32MB
maintenance_work_mem = 256MB
max_wal_size = 2GB
max_connections = 200
CONF
}

running() { [ -x "$BIN/pg_ctl" ] && [ -d "$DATA" ] && "${as_server[@]}" "$BIN/pg_ctl" -D "$DATA" status >/dev/null 2>&1; }

start() {
  own_folder "$CACHE"
  exec 8>"$CACHE/.lock-$SUITE" && flock 8 # two callers at once: one unpacks, the other waits
  unpack 8>&-
  exec 8>&-
  own_folder "$HOME_DIR"
  exec 9>"$HOME_DIR/.lock" && flock 9
  pick_user
  [ -e "$DATA/PG_VERSION" ] || create_data
  running || "${as_server[@]}" "$BIN/pg_ctl" -D "$DATA" -s -w -t 60 -l "$LOG" -o "-p $PORT" start 9>&- ||
    die "the server did not start: $(tail -3 "$LOG")"
  "${as_server[@]}" "$BIN/psql" -XqAt -v ON_ERROR_STOP=1 -d "$DSN" \
    -c "set client_min_messages = warning" -c "create extension if not exists age" >&2
  echo "$DSN"
}

pick_user
case ${1:-} in
  start) start ;;
  stop) if running; then "${as_server[@]}" "$BIN/pg_ctl" -D "$DATA" -s -m fast stop; else say "not running"; fi ;;
  status) if running; then echo "$DSN"; else say "not running" && exit 3; fi ;;
  dsn) echo "$DSN" ;;
  *) die "usage: $0 start|stop|status|dsn" ;;
esac
