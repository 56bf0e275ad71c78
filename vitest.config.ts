/**
 * The suite of `npm test`: `unit`, the tests beside the code; `counted`, those of them beside the code whose coverage has thresholds; `built`, those
 * in `test/` of what `npm run build` made; `isolated`, files of all whose first comment says `@isolated` with the reason. Files of one project but
 * `isolated` share processes, so each module, native library and piece of machine code is loaded and compiled once per process; a file of `isolated`
 * has a process of its own.
 */
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type TestProjectInlineConfiguration, type ViteUserConfig, configDefaults, defineConfig } from "vitest/config";
import { ProjectSequencer } from "./scripts/tests/project-sequencer.ts";

const exclude = [...configDefaults.exclude, "dist/**", "bench/**", "**/*.long.test.ts"]; // those are of vitest.long.config.ts

const isolated = ["src", "test"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && !file.endsWith(".long.test.ts"))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => /@isolated [a-z]/.test(readFileSync(file, "utf8"))),
);

/** V8 counts in the processes of these tests alone: counting would cost the others a sixth of their time, and the thresholds hold without them. */
const counted = ["src/{backends/library,kernels,libraries,runtime}/**/*.test.ts"];

const project = (name: string, test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    exclude: [...exclude, ...isolated],
    setupFiles: "test/fixtures/shared-process.ts",
    isolate: false,
    server: { deps: { external: [/\/dist\//] } }, // Node.js imports it, as a user's program does
    ...test,
  },
});

const config: ViteUserConfig = defineConfig({
  test: {
    pool: "forks",
    maxWorkers: Math.max(2, availableParallelism() - 1), // vitest's own default leaves one of two cores idle
    testTimeout: 180_000, // a busy machine with two cores takes its time; no test is about speed
    hookTimeout: 180_000,
    sequence: { sequencer: ProjectSequencer },
    reporters: process.env["CI"] === undefined ? ["default"] : ["default", ["json", { outputFile: "coverage/report.json" }]],
    projects: [
      project("isolated", { include: isolated, exclude, isolate: true, setupFiles: [] }),
      project("built", { include: ["test/**/*.test.ts"] }),
      project("counted", { include: counted, env: { COUNT_COVERAGE: "1" } }),
      project("unit", { include: ["src/**/*.test.ts"], exclude: [...exclude, ...isolated, ...counted] }),
    ],
    coverage: {
      provider: "custom",
      customProviderModule: "./scripts/tests/unit-coverage.ts",
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
        "src/runtime/{targets/{constraints,target},selection/{selection,candidate-order,requirements,variant-selection,memory-budget},decision/decision,loading/{loading,no-candidate-error,verification},residency/{residency,memory-admission,model-keys,shared-models},scheduling/fair-queue}.ts":
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
