/**
 * The long suite, `npm run test:long`: tests of over about ten seconds each that a change rarely breaks, and those that install something. First
 * those that need no quiet machine, side by side; then `alone`, one file at a time. Of each subject a sample within about 60 s of processor time runs;
 * TEST_SLOW=1 runs everything (test/fixtures/slow.ts, and the files of `onRequest`).
 */
import { availableParallelism } from "node:os";
import { type TestProjectInlineConfiguration, type ViteUserConfig, configDefaults, defineConfig } from "vitest/config";

/** They measure memory or how time grows, hold deadlines, or kill what runs. */
const alone = [
  "budget",
  "chaos",
  "ending",
  "hostile-onnx",
  "hung-hosts",
  "hung-server",
  "measured",
  "request-growth",
  "run-memory",
  "unread-answers",
];
/** Files that run with TEST_SLOW=1 alone, and why. What they test has a sample in the files beside them. */
const onRequest: Readonly<Record<string, readonly string[]>> = {
  "clients of which openai, anthropic, ollama, cohere, ai and huggingface are the sample": [
    "embedding-clients",
    "langchain-python",
    "openapi-generators",
    "protocol-clients",
    "vendor-clients",
  ],
  "builds of llama.cpp and other libraries that are fetched; the installed one is the sample": [
    "library-releases",
    "own-library",
    "own-library-older",
    "own-library-python",
    "released-libraries",
  ],
};
const runsAll = process.env["TEST_SLOW"] === "1";
const leftOut = runsAll ? [] : Object.values(onRequest).flat();
if (!runsAll)
  for (const [why, names] of Object.entries(onRequest))
    console.log(`skipped, TEST_SLOW=1 runs them: ${names.join(", ")} (${why})`);

const aloneFiles = alone.map((name) => `test/*/${name}.long.test.ts`);
const exclude = [...configDefaults.exclude, "dist/**", "bench/**", ...leftOut.map((name) => `test/*/${name}.long.test.ts`)];

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
