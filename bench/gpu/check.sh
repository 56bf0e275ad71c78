#!/bin/sh
# Checks Inferyard on a bare machine with an NVIDIA GPU and without a network: bench/gpu/check.sh [RESULT.json]
#
# `npm run gpu:prepare` makes the folder .gpu, which has all that is needed but the plugin: Node.js, the built package with its dependencies, models and
# their goldens, and conformance cases, in pieces that can be carried one after the other. The CUDA plugin is the one of the Python package
# jax-cuda13-pjrt (or jax-cuda12-pjrt) on the machine, with the nvidia-* packages beside it. Under eight minutes, and two for programs
# on the backend cuda (cuda-programs.mjs), whose NVRTC and cuBLAS are those of nvidia-* packages or of /usr/local/cuda.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
result=${1:-gpu.json}
work=${GPU_WORK:-/tmp/inferyard-gpu}
if [ ! -x "$work/node" ]; then
  mkdir -p "$work"
  cat "$here"/.gpu/*/piece | xz -dc -T0 | tar -x -C "$work"
fi
plugin=${PJRT_PLUGIN_LIBRARY_PATH:-$(ls -d /opt/*/.venv/lib/python3*/site-packages/jax_plugins/xla_cuda1*/xla_cuda_plugin.so \
  /usr/lib/python3*/site-packages/jax_plugins/xla_cuda1*/xla_cuda_plugin.so 2>/dev/null | head -1)}
if [ -z "$plugin" ]; then
  echo "no CUDA plugin was found: set PJRT_PLUGIN_LIBRARY_PATH" >&2
  exit 2
fi
export PJRT_PLUGIN_LIBRARY_PATH="$plugin"
export INFERYARD_HOME="$work/home"
export PATH="$work:$PATH"
"$work/node" "$work/programs.mjs" "${result%.json}-programs.json" || echo "programs on CUDA failed: see ${result%.json}-programs.json" >&2
exec "$work/node" "$work/bench/gpu/check.mjs" "$work" "$result"
