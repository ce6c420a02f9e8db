#!/usr/bin/env bash
# A Docker engine and an AGE image, for machines that have no access to an image registry.
#
#   eval "$(scripts/docker-age.sh up)"    an engine (a reachable one, else a private dockerd) and the image
#   scripts/docker-age.sh down            ends the private dockerd and its containers and takes its network away
#
# `up` prints the environment that docker, docker compose and testcontainers need to find them. It exits
# with status 3 where no engine can be started. Needs root for a private dockerd, and Debian for the image.
#   GRAPHPORT_PG_SUITE      forky (PostgreSQL 18, AGE 1.8; the default) or trixie (PostgreSQL 17, AGE 1.5)
#   GRAPHPORT_DOCKER_HOME   folder of the private dockerd and of the packages
#
# The image is Debian's packages put into one layer; nothing is pulled. It takes the variables of the
# official postgres image: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, PGDATA.
set -euo pipefail
source "$(dirname "$(readlink -f "$0")")/lib/debian.sh"

SUITE=${GRAPHPORT_PG_SUITE:-forky}
MAJOR=$(pg_major "$SUITE")
HOME_DIR=${GRAPHPORT_DOCKER_HOME:-/var/tmp/graphport-docker-$(id -u)}
SOCKET=unix://$HOME_DIR/docker.sock
IMAGE=graphport/age:$SUITE-$(sha256sum "$(readlink -f "$0")" | cut -c1-8) # another recipe, another image
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

# The packages' files, and the few lines that their maintainer scripts would have written.
build_image() {
  docker image inspect "$IMAGE" >/dev/null 2>&1 && return 0
  say "building $IMAGE"
  local root=$HOME_DIR/root work=$HOME_DIR/fetch packages deb folder
  rm -rf "$root"
  private_apt "$SUITE" "$work"
  packages=$(closure "$UNNEEDED" "postgresql-$MAJOR-age" \
    bash dash coreutils util-linux sed grep findutils libc-bin base-files tzdata) || die "$SUITE lacks a package"
  # shellcheck disable=SC2086 # one word a package
  download "$work" $packages
  unset APT_CONFIG
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
  for deb in "$work"/debs/*.deb; do # not dpkg -x, which would put a folder in the place of the link /lib
    dpkg-deb --fsys-tarfile "$deb" | tar -C "$root" -x --keep-directory-symlink
  done
  ln -sf dash "$root/usr/bin/sh"
  rm -rf "$root"/usr/share/{doc,man,locale} "$root/usr/lib/postgresql/$MAJOR/lib"/{bitcode,llvmjit.so}
  printf '%s\n' root:x:0:0::/root:/bin/bash postgres:x:999:999::/var/lib/postgresql:/bin/bash >"$root/etc/passwd"
  printf '%s\n' root:x:0: postgres:x:999: >"$root/etc/group"
  mkdir -p "$root"/{root,tmp,run,proc,sys,dev} "$root/var/lib/postgresql/data"
  chmod 1777 "$root/tmp"
  entry_point >"$root/entry-point.sh"
  chroot "$root" /usr/sbin/ldconfig
  tar -C "$root" -c . | docker import \
    -c "ENV PATH=/usr/lib/postgresql/$MAJOR/bin:/usr/sbin:/usr/bin LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data" \
    -c 'EXPOSE 5432' -c 'ENTRYPOINT ["bash", "/entry-point.sh"]' - "$IMAGE" >&2
  rm -rf "$root" "$work"
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
  build_image
  find_compose
  [ -z "${DOCKER_HOST:-}" ] || echo "export DOCKER_HOST=$DOCKER_HOST"
  [ -z "${DOCKER_CONFIG:-}" ] || echo "export DOCKER_CONFIG=$DOCKER_CONFIG"
  # testcontainers: no further image to pull, and the ports are on this machine even if it looks like a container
  echo "export GRAPHPORT_AGE_IMAGE=$IMAGE TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_CONNECTION_MODE=docker_host"
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
