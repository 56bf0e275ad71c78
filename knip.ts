/** What is used from outside: the entries of the build, and the programs of this repository. */
import type { KnipConfig } from "knip";
import { pageEntries, pageReplacements } from "./scripts/build/page-entries.ts";
import { compileCache, modules, programs, sourceMaps, subpaths } from "./src/bundling/entries.ts";

const config: KnipConfig = {
  entry: [
    ...[subpaths, modules, programs, pageEntries, pageReplacements].flatMap((table) => Object.values(table)),
    compileCache,
    sourceMaps,
    "src/bundling/absent-backends.ts", // imported by modules that bundles replace
    "src/engine/codegen/wasm/index.ts",
    "scripts/{build-builtin,check-tokenizers,conformance,fuzz,goldens}/main.ts",
    "scripts/check-tokenizers/*/main.ts",
    "scripts/{constraints,generate,layout,package,release}/*.{ts,mjs,cjs}",
    "scripts/fuzz/{child,run-one,minimize}.ts",
    "scripts/mutations/{checks,vitest.config}.ts",
    "scripts/fuzz/coverage/{register,hooks}.mjs",
    "bench/**/*.mjs",
    "bench/gpu/*.ts",
    "examples/**/*.mjs",
    "examples/magika/main.ts",
    "test/**/*.{ts,mjs}",
  ],
  project: ["src/**/*.ts", "scripts/**", "test/**"],
  ignoreExportsUsedInFile: true,
  ignoreBinaries: [
    "apt-get",
    "ar",
    "buildah",
    "chroot",
    "dpkg",
    "dpkg-deb",
    "gcc",
    /^g\+\+$/,
    "go",
    "helm",
    "java",
    "ldd",
    "mkfifo",
    "mount",
    "mvn",
    "nm",
    "objdump",
    "openssl",
    "podman",
    "readelf",
    "redis-server",
    "umount",
  ],
  // Programs of scripts/package/check-pack.mjs, and a decoder that src/ imports by a name that is no literal.
  ignoreDependencies: ["@arethetypeswrong/cli", "@huggingface/transformers", "publint", "ogg-opus-decoder"],
};

// oxlint-disable-next-line import/no-default-export -- knip asks for it
export default config;
