/**
 * The long suite, `npm run test:long`: tests of over about ten seconds each that a change rarely breaks, and those that install something. First
 * those that need no quiet machine, side by side; then `alone`, one file at a time. Of each subject a sample within about 60 s of processor time runs;
 * TEST_SLOW=1 runs everything (test/fixtures/slow.ts).
 */
import { availableParallelism } from "node:os";
import { type TestProjectInlineConfiguration, type ViteUserConfig, configDefaults, defineConfig } from "vitest/config";
import { filesOnRequest, runsAll } from "./test/fixtures/slow.ts";

/** They measure memory or how time grows, hold deadlines, or kill what runs. */
const alone = [
  "budget",
  "chaos",
  "ending",
  "hostile-media",
  "hostile-onnx",
  "hung-hosts",
  "hung-server",
  "measured",
  "request-growth",
  "run-memory",
  "unread-answers",
];
const aloneFiles = alone.map((name) => `test/*/${name}.long.test.ts`);
const exclude = [...configDefaults.exclude, "dist/**", "bench/**", ...(runsAll ? [] : Object.values(filesOnRequest).flat())];

const project = (test: NonNullable<TestProjectInlineConfiguration["test"]>): TestProjectInlineConfiguration => ({
  extends: true,
  test: { exclude, server: { deps: { external: [/\/dist\//] } }, ...test },
});

const config: ViteUserConfig = defineConfig({
  test: {
    pool: "forks",
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: process.env["CI"] === undefined ? ["default"] : ["default", ["json", { outputFile: "coverage/report-long.json" }]],
    projects: [
      project({
        name: "long",
        include: ["src/**/*.long.test.ts", "test/**/*.long.test.ts"],
        exclude: [...exclude, ...aloneFiles],
        maxWorkers: availableParallelism() + 1, // many wait for installations and other processes
        sequence: { groupOrder: 0 },
      }),
      project({ name: "alone", include: aloneFiles, maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
  },
});

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default config;
