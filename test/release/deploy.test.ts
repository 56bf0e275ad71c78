/** Files of deploy/: what they start and ask is what the program has. Charts are rendered by helm in deploy.long.test.ts. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const read = (path: string): string => readFileSync(join("deploy", path), "utf8");
const files = [
  "helm/inferyard/values.yaml",
  "kserve/v2.yaml",
  "kserve/openai.yaml",
  "compose/compose.yaml",
  "systemd/inferyard.service",
  "image/Containerfile",
];
const templates = readdirSync("deploy/helm/inferyard/templates").map((name) => `helm/inferyard/templates/${name}`);
const reference = ["http", "cli", "configuration"].map((name) => readFileSync(`docs/reference/${name}.md`, "utf8")).join("\n");
const serving = readFileSync("docs/guide/serving.md", "utf8");

describe("files for running the server elsewhere", () => {
  it.each(files)("%s starts it with flags that `serve` has", (path) => {
    const flags = [...read(path).matchAll(/(?<![\w-])(--[a-z][a-z-]+)(?==|\b)/g)].map(([, flag]) => flag!);
    const own = flags.filter((flag) => !["--chown", "--restart"].includes(flag));
    expect(own.filter((flag) => !reference.includes(flag))).toEqual([]);
    expect(own).toContain("--port");
  });

  it.each([...files, ...templates])("%s asks for routes that the server has", (path) => {
    const routes = [...read(path).matchAll(/path: (\/[a-z0-9/]+)/g)].map(([, route]) => route!);
    expect(routes.filter((route) => !reference.includes(`\`GET ${route}\``))).toEqual([]);
  });

  it.each(templates)("%s names metrics that the server has", (path) => {
    const metrics = [...read(path).matchAll(/(?:inferyard|vllm)[_:][a-z_]+/g)].map(([name]) => name);
    expect(metrics.filter((name) => !serving.includes(name))).toEqual([]);
  });
});
