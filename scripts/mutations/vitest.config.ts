/** The unit tests with one token changed, as the variable MUTATION says; see `runTests` in main.ts. */
import { defineConfig, mergeConfig, type ViteUserConfig } from "vitest/config";
import suite from "../../vitest.config.ts";
import type { Mutation } from "./sites.ts";

const { file, start, before, after } = JSON.parse(process.env["MUTATION"] ?? "{}") as Mutation;

const config: ViteUserConfig = mergeConfig(
  suite,
  defineConfig({
    plugins: [
      {
        name: "mutate",
        enforce: "pre",
        transform: (text, id) => (id === file ? text.slice(0, start) + after + text.slice(start + before.length) : undefined),
      },
    ],
  }),
);

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default config;
