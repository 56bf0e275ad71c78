import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createHandler } from "../server/handler.ts";
import { classifyOptions } from "../tasks/classification/classify-options.ts";
import { createRuntime } from "./create-runtime.ts";
import { commands } from "../cli/command-table.ts";
import { pipelineFactories } from "./pipelines.ts";
import { Runtime } from "./runtime.ts";
import { taskTable } from "../tasks/definitions.ts";

/** The rows of docs/reference/tasks.md, as that page writes them. */
const documented = taskTable.map(({ task, verb, command, route, input, output, models, files, pipeline }) =>
  [
    "",
    `\`${task}\`${pipeline ? "" : " (no pipeline)"}`,
    `\`runtime.${verb}\``,
    `\`${command}\``,
    route === undefined ? "" : `\`${route}\``,
    input,
    output,
    models,
    files.join(", "),
    "",
  ]
    .join(" | ")
    .trim(),
);

describe("the table of tasks", () => {
  const load = async (name: string | undefined): Promise<Command | undefined> => {
    const define = await commands.find((entry) => entry.name === name)?.load();
    const command = new Command(name);
    define?.(command, {} as never);
    return define && command;
  };

  it.each(taskTable)(
    "$task: the verb, the command with its flag, and the pipeline are there",
    async ({ verb, command, task, pipeline }) => {
      expect(Runtime.prototype[verb]).toBeTypeOf("function");
      const [name, flag] = command.split(" ");
      const found = await load(name);
      expect(found, command).toBeDefined();
      const flags: unknown[] = [undefined, ...(found?.options.map(({ long }) => long) ?? [])];
      expect(flags).toContain(flag);
      expect(Object.hasOwn(pipelineFactories, task)).toBe(pipeline);
    },
  );

  it("names routes of the server, whose requests have the fields of the options", async () => {
    const runtime = await createRuntime({ host: "inline", threads: 1 });
    interface Document {
      readonly paths: object;
      readonly components: {
        readonly schemas: Record<string, { readonly properties: Record<string, { readonly description?: string }> }>;
      };
    }
    const response = await createHandler(runtime)(new Request("http://localhost/openapi.json"));
    const document = (await response.json()) as Document;
    await runtime.dispose();
    const paths = taskTable.flatMap(({ route }) => (route === undefined ? [] : [route]));
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(paths));
    const properties = document.components.schemas["ClassifyRequest"]?.properties ?? {};
    const fields = Object.entries(classifyOptions).flatMap(([, { field }]) => (field === undefined ? [] : [field]));
    const descriptions = Object.values(properties).map(({ description }) => description);
    expect(descriptions).toEqual(expect.arrayContaining(fields));
  });

  it("names every pipeline", () => {
    expect(
      taskTable
        .filter(({ pipeline }) => pipeline)
        .map(({ task }) => task)
        .toSorted(),
      // Names that Hugging Face has for one task of two, which `rewrite` is, and for the part of `read` that reads no pages.
    ).toEqual(
      Object.keys(pipelineFactories)
        .filter((name) => !["summarization", "translation", "image-to-text"].includes(name))
        .toSorted(),
    );
  });

  it("is the one of the docs", () => {
    const page = readFileSync(new URL("../../docs/reference/tasks.md", import.meta.url), "utf8");
    expect(page.split("\n").filter((line) => line.startsWith("| `"))).toEqual(documented);
  });

  it("says how models are recognized in the words of config.json", () => {
    const models = Object.fromEntries(taskTable.map((row) => [row.task, row.models]));
    expect(models["text-classification"]).toBe("…ForSequenceClassification");
    expect(taskTable.every((row) => row.models !== "")).toBe(true);
  });
});
