#!/usr/bin/env bash
# A Docker engine and the images of docker-compose.yml, for machines that have no access to an image registry.
#
#   eval "$(scripts/docker-images.sh up)" an engine (a reachable one, else a private dockerd) and the images
#   scripts/docker-images.sh down         ends the private dockerd and its containers and takes its network away
#
# `up` prints the environment that docker, docker compose and testcontainers need to find them. It exits
# with status 3 where no engine can be started. Needs root for a private dockerd, and Debian for the images.
#   GRAPHPORT_PG_SUITE      forky (PostgreSQL 18, AGE 1.8; the default) or trixie (PostgreSQL 17, AGE 1.5)
#   GRAPHPORT_DOCKER_HOME   folder of the private dockerd and of the packages
#
# An image is Debian's packages put into one layer; nothing is pulled. AGE's takes the variables of the
# official postgres image: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, PGDATA. The other is what the
# Dockerfile builds on instead of python:3.13-slim, with this machine's certificates and pip's configuration.
set -euo pipefail
source "$(dirname "$(readlink -f "$0")")/lib/debian.sh"

SUITE=${GRAPHPORT_PG_SUITE:-forky}
MAJOR=$(pg_major "$SUITE")
HOME_DIR=${GRAPHPORT_DOCKER_HOME:-/var/tmp/graphport-docker-$(id -u)}
SOCKET=unix://$HOME_DIR/docker.sock
ROOT=$HOME_DIR/root
RECIPE=$(sha256sum "$(readlink -f "$0")" | cut -c1-8) # another recipe, another image
IMAGE=graphport/age:$SUITE-$RECIPE
PYTHON_IMAGE=graphport/python:trixie-$RECIPE
# No firewall rule is made or changed: published ports go through dockerd's own proxy, on loopback alone.
DOCKERD_FLAGS=(--iptables=false --ip6tables=false --ip-forward=false --ip-masq=false --userland-proxy=true --ip 127.0.0.1)

engine_answers() { docker info >/dev/null 2>&1; }

install_docker() {
  command -v dockerd >/dev/null && command -v docker >/dev/null && return 0
  [ "$(id -u)" = 0 ] || return 1
  say "apt-get install docker.io"
  local packages=(docker.io)
  with_retries apt-get -qq update >&2 || return 1
  if apt-cache show docker-cli >/dev/null 2>&1; then packages+=(docker-cli); fi # a package of its own from Debian 13 on
  DEBIAN_FRONTEND=noninteractive with_retries apt-get -qq -y --no-install-recommends install "${packages[@]}" \
    >"$HOME_DIR/apt.log" 2>&1 || { tail -5 "$HOME_DIR/apt.log" >&2 && return 1; }
}

start_engine() {
  [ "$(id -u)" = 0 ] || return 1
  mkdir -p "$HOME_DIR/data" "$HOME_DIR/exec"
  rm -f "$HOME_DIR/docker.pid"
  # Whether docker0 is ours to take away afterwards.
  if ip link show docker0 >/dev/null 2>&1; then rm -f "$HOME_DIR/own-bridge"; else touch "$HOME_DIR/own-bridge"; fi
  setsid nohup dockerd "${DOCKERD_FLAGS[@]}" --data-root "$HOME_DIR/data" --exec-root "$HOME_DIR/exec" \
    --pidfile "$HOME_DIR/docker.pid" --host "$SOCKET" >"$HOME_DIR/dockerd.log" 2>&1 </dev/null 9>&- &
  local process=$!
  for _ in $(seq 1 120); do
    DOCKER_HOST=$SOCKET engine_answers && return 0
    [ -d "/proc/$process" ] || break
    sleep 0.25
  done
  say "dockerd did not come up: $(tail -1 "$HOME_DIR/dockerd.log")"
  kill "$process" 2>/dev/null || true
  return 1
}

find_engine() { # sets DOCKER_HOST where it is not the default engine that answers
  if engine_answers; then return 0; fi
  export DOCKER_HOST=$SOCKET
  engine_answers || { install_docker && start_engine; }
}

entry_point() {
  cat <<'SCRIPT'
#!/bin/bash
set -e
user=${POSTGRES_USER:-postgres} password=${POSTGRES_PASSWORD:-} database=${POSTGRES_DB:-${POSTGRES_USER:-postgres}}
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown -R postgres: "$PGDATA" /run/postgresql
  exec setpriv --reuid postgres --regid postgres --clear-groups -- bash "$0" "$@"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  [ -n "$password" ] || { echo "POSTGRES_PASSWORD must be set" >&2; exit 1; }
  initdb -D "$PGDATA" -U "$user" --encoding=UTF8 --locale=C.UTF-8 -N --auth-local=trust --auth-host=scram-sha-256 \
    --pwfile=<(printf %s "$password") >/dev/null
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -s -w -o "-c listen_addresses='' -c unix_socket_directories=/tmp" start
  [ "$database" = postgres ] || createdb -h /tmp -U "$user" "$database"
  psql -qX -h /tmp -U "$user" -d "$database" -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION age'
  pg_ctl -D "$PGDATA" -s -m fast -w stop
fi
[ "${1:-}" != postgres ] || shift
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/run/postgresql \
  -c session_preload_libraries=age -c jit=off "$@"
SCRIPT
}

# fill_root SUITE UNNEEDED PACKAGE...: the packages' files in $ROOT, and what their maintainer scripts would have done
fill_root() {
  local suite=$1 unneeded=$2 work=$HOME_DIR/fetch packages deb folder
  shift 2
  rm -rf "$ROOT"
  private_apt "$suite" "$work"
  packages=$(closure "$unneeded" "$@" bash dash coreutils util-linux sed grep findutils libc-bin base-files tzdata) ||
    die "$suite lacks a package"
  # shellcheck disable=SC2086 # one word a package
  download "$work" $packages
  unset APT_CONFIG
  mkdir -p "$ROOT"/usr/{bin,sbin,lib,lib64}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$ROOT/$folder"; done
  for deb in "$work"/debs/*.deb; do # not dpkg -x, which would put a folder in the place of the link /lib
    dpkg-deb --fsys-tarfile "$deb" | tar -C "$ROOT" -x --keep-directory-symlink
  done
  ln -sf dash "$ROOT/usr/bin/sh"
  rm -rf "$work" "$ROOT"/usr/share/{doc,man,locale}
  mkdir -p "$ROOT"/{root,tmp,run,proc,sys,dev}
  chmod 1777 "$ROOT/tmp"
  printf '%s\n' root:x:0:0::/root:/bin/bash >"$ROOT/etc/passwd"
  printf '%s\n' root:x:0: >"$ROOT/etc/group"
  chroot "$ROOT" /usr/sbin/ldconfig
}

build_age() {
  docker image inspect "$IMAGE" >/dev/null 2>&1 && return 0
  say "building $IMAGE"
  fill_root "$SUITE" "$UNNEEDED" "postgresql-$MAJOR-age"
  rm -rf "$ROOT/usr/lib/postgresql/$MAJOR/lib"/{bitcode,llvmjit.so}
  echo postgres:x:999:999::/var/lib/postgresql:/bin/bash >>"$ROOT/etc/passwd"
  echo postgres:x:999: >>"$ROOT/etc/group"
  mkdir -p "$ROOT/var/lib/postgresql/data"
  entry_point >"$ROOT/entry-point.sh"
  tar -C "$ROOT" -c . | docker import \
    -c "ENV PATH=/usr/lib/postgresql/$MAJOR/bin:/usr/sbin:/usr/bin LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data" \
    -c 'EXPOSE 5432' -c 'ENTRYPOINT ["bash", "/entry-point.sh"]' - "$IMAGE" >&2
  rm -rf "$ROOT"
}

build_python() {
  docker image inspect "$PYTHON_IMAGE" >/dev/null 2>&1 && return 0
  say "building $PYTHON_IMAGE"
  fill_root trixie 'perl|perl-.*|libperl5.*|debconf|gcc-[0-9]+-base' python3-venv libgomp1 libstdc++6 netbase
  mkdir -p "$ROOT/etc/ssl/certs"
  cp /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/"
  if [ -e /etc/pip.conf ]; then cp /etc/pip.conf "$ROOT/etc/"; fi
  tar -C "$ROOT" -c . | docker import \
    -c 'ENV PATH=/usr/sbin:/usr/bin LANG=C.UTF-8 SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt' - "$PYTHON_IMAGE" >&2
  rm -rf "$ROOT"
}

# `docker compose` is a plugin; where it is missing, Debian's goes into a configuration folder of our own.
find_compose() {
  if docker compose version >/dev/null 2>&1; then return 0; fi
  export DOCKER_CONFIG=$HOME_DIR/config
  if docker compose version >/dev/null 2>&1; then return 0; fi
  say "fetching docker compose"
  local work=$HOME_DIR/fetch-compose
  private_apt trixie "$work"
  download "$work" docker-compose
  unset APT_CONFIG
  rm -rf "$HOME_DIR/compose"
  dpkg -x "$work"/debs/docker-compose_*.deb "$HOME_DIR/compose"
  mkdir -p "$DOCKER_CONFIG/cli-plugins"
  cp "$HOME_DIR/compose/usr/libexec/docker/cli-plugins/docker-compose" "$DOCKER_CONFIG/cli-plugins/"
  rm -rf "$work" "$HOME_DIR/compose"
}

up() {
  mkdir -p "$HOME_DIR"
  exec 9>"$HOME_DIR/.lock" && flock 9
  find_engine || { say "no Docker engine can be started here" && exit 3; }
  build_age
  build_python
  find_compose
  [ -z "${DOCKER_HOST:-}" ] || echo "export DOCKER_HOST=$DOCKER_HOST"
  [ -z "${DOCKER_CONFIG:-}" ] || echo "export DOCKER_CONFIG=$DOCKER_CONFIG"
  # testcontainers: no further image to pull, and the ports are on this machine even if it looks like a container
  echo "export GRAPHPORT_AGE_IMAGE=$IMAGE GRAPHPORT_PYTHON_IMAGE=$PYTHON_IMAGE GRAPHPORT_BUILD_NETWORK=host"
  echo "export TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_CONNECTION_MODE=docker_host"
  echo "export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1"
}

down() {
  [ -e "$HOME_DIR/docker.pid" ] || { say "no private dockerd runs" && return 0; }
  export DOCKER_HOST=$SOCKET
  local process
  process=$(cat "$HOME_DIR/docker.pid")
  docker ps -aq | xargs -r docker rm -f >/dev/null
  docker network ls --filter type=custom -q | xargs -r docker network rm >/dev/null
  kill "$process"
  for _ in $(seq 1 60); do
    [ -d "/proc/$process" ] || break
    sleep 0.25
  done
  umount "$HOME_DIR/exec/netns/default" 2>/dev/null || true
  if [ -e "$HOME_DIR/own-bridge" ]; then ip link del docker0 2>/dev/null || true; fi
  rm -f "$HOME_DIR/docker.pid" "$HOME_DIR/own-bridge"
}

case ${1:-} in
  up) up ;;
  down) down ;;
  *) die "usage: $0 up|down" ;;
esac
