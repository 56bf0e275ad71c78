/** The long suite, `npm run test:long`: tests of over about ten seconds each that a change rarely breaks. */
import { type ViteUserConfig, configDefaults, defineConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.long.test.ts", "test/**/*.long.test.ts"],
    exclude: [...configDefaults.exclude, "dist/**", "bench/**"],
    pool: "forks",
    maxWorkers: 1, // its tests measure memory, hold deadlines and start programs of several threads
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: process.env["CI"] === undefined ? ["default"] : ["default", ["json", { outputFile: "coverage/report-long.json" }]],
  },
});

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default config;
