/**
 * The suite of `npm test`, in three projects: `runtime`, whose coverage is a condition; `unit`, the other tests beside the code, several files to
 * a process; `built`, which test what `npm run build` made, each file in a process of its own.
 */
import { availableParallelism } from "node:os";
import { type TestProjectInlineConfiguration, type ViteUserConfig, configDefaults, defineConfig } from "vitest/config";

const exclude = [...configDefaults.exclude, "dist/**", "bench/**", "**/*.long.test.ts"]; // those are of vitest.long.config.ts

/** The folders whose coverage is a condition: they decide what runs. */
const measured = ["src/runtime", "src/kernels", "src/libraries/discovery", "src/libraries/analysis"];
const findLibrary = "src/backends/library/find-library.test.ts";

const project = (name: string, test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, exclude, ...test },
});

/** `npm test` runs vitest twice, for coverage and for the rest; .ci/run adds up the reports of both. */
const report = `coverage/report${process.argv.includes("--coverage") ? "-runtime" : ""}.json`;

const config: ViteUserConfig = defineConfig({
  test: {
    pool: "forks",
    maxWorkers: Math.max(2, availableParallelism() - 1), // vitest's own default leaves one of two cores idle
    testTimeout: 180_000, // a busy machine with two cores takes its time; no test is about speed
    hookTimeout: 180_000,
    reporters: process.env["CI"] === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    projects: [
      project("runtime", { include: measured.map((folder) => `${folder}/**/*.test.ts`).concat(findLibrary) }),
      project("unit", {
        include: ["src/**/*.test.ts"],
        exclude: [...exclude, ...measured.map((folder) => `${folder}/**`), "src/backends/**"],
        isolate: false,
      }),
      project("built", {
        include: ["test/**/*.test.ts", "src/backends/**/*.test.ts"], // onnxruntime keeps settings in its process
        exclude: [...exclude, findLibrary],
        server: { deps: { external: [/\/dist\//] } }, // Node.js imports it, as a user's program does
      }),
    ],
    coverage: {
      provider: "v8",
      include: [
        "src/runtime/**/*.ts",
        "src/kernels/*.ts",
        "src/libraries/{discovery,analysis}/*.ts",
        "src/backends/library/find-library.ts",
      ],
      exclude: ["**/*.test.ts"],
      reporter: ["text-summary", "json-summary"],
      thresholds: {
        "src/kernels/{select-kernel,simd-levels,closest-format,kernel-preference,describe-selection,registry,kernel-ids}.ts": {
          branches: 95,
          functions: 95,
          lines: 95,
        },
        "src/{libraries/{discovery,analysis}/{classify,compute-verdict,discover-libraries,environment-locations,find-needed,fit,library-classes,library-names,loader-cache,requirements,scan-location,unique-files},backends/library/find-library}.ts":
          {
            branches: 95,
            functions: 95,
            lines: 95,
          },
        "src/runtime/{selection/{selection,candidate-order,requirements,constraints,target,variant-selection},decision/{decision,no-candidate-error},loading/{loading,verification},residency/{residency,memory-admission,memory-budget,model-keys,shared-models},scheduling/fair-queue}.ts":
          {
            branches: 95,
            functions: 95,
            lines: 95,
          },
      },
    },
  },
});

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default config;
