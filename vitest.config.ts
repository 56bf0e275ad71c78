import { availableParallelism } from "node:os";
import { type ViteUserConfig, configDefaults, defineConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "dist/**", "bench/**", "**/*.long.test.ts"], // those are of vitest.long.config.ts
    pool: "forks",
    server: { deps: { external: [/\/dist\//] } },
    maxWorkers: Math.max(2, availableParallelism() - 1), // vitest's own default leaves one of two cores idle
    testTimeout: 180_000, // a busy machine with two cores takes its time; no test is about speed
    hookTimeout: 180_000,
    reporters: process.env["CI"] === undefined ? ["default"] : ["default", ["json", { outputFile: "coverage/report.json" }]],
    coverage: {
      provider: "v8",
      include: ["src/runtime/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reporter: ["text-summary", "json-summary"],
      thresholds: {
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
