/**
 * The metrics as programs that nobody here wrote read them: Prometheus' own linter (what `promtool check metrics` runs) and the strict OpenMetrics
 * parser of prometheus_client. They are fetched for this run; where that cannot be done the tests say so and are skipped.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keptInstallation } from "../fixtures/installations.ts";
import { installPython, needsInstalled, problemOfInstallation, pythonOf } from "../fixtures/installed.ts";
import { ServerProcesses, ready } from "../fixtures/processes/server-process.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "inferyard-metrics-"));
const servers = new ServerProcesses();
const texts = { prometheus: "", openMetrics: "" };

beforeAll(async () => {
  const server = await servers.serve([], {});
  await ready(server);
  const post = (path: string, body: string): Promise<Response> =>
    fetch(`${server.url}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await post("/api/embed", '{"input":["a cat","a \\"dog\\""]}');
  await post("/api/embed", "{");
  await fetch(`${server.url}/v2/models/builtin`);
  const read = async (accept: string): Promise<string> => (await fetch(`${server.url}/metrics`, { headers: { accept } })).text();
  texts.prometheus = await read("text/plain");
  texts.openMetrics = await read("application/openmetrics-text");
});
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

const goProgram = `package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func main() {
	problems, err := promlint.New(os.Stdin).Lint()
	if err != nil {
		fmt.Println(err)
	}
	for _, problem := range problems {
		fmt.Println(problem.Metric, problem.Text)
	}
}
`;

describe("Prometheus' linter (client_golang 1.23.2)", () => {
  const linter = "github.com/prometheus/client_golang/prometheus/testutil/promlint@v1.23.2";
  let module = "";
  needsInstalled(() =>
    problemOfInstallation(async () => {
      const { stdout: tool } = await run("go", ["version"]);
      module = await keptInstallation({ tool, packages: [linter], program: goProgram }, async (inside) => {
        writeFileSync(join(inside, "main.go"), goProgram);
        for (const words of ["mod init lint", `get ${linter}`, "build -o lint ."])
          await run("go", words.split(" "), { cwd: inside, timeout: 300_000 });
      });
    }),
  );

  it("finds nothing", () => {
    expect(execFileSync(join(module, "lint"), { input: texts.prometheus, encoding: "utf8" })).toBe("");
  });
});

describe("prometheus_client 0.23.1, PyPI", () => {
  needsInstalled(() => installPython(folder, ["prometheus_client==0.23.1"]));

  it("reads both formats, OpenMetrics by its strict parser, with the same numbers", () => {
    const program = [
      "import json, sys",
      "from prometheus_client.parser import text_string_to_metric_families as prometheus",
      "from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics",
      "texts = json.load(sys.stdin)",
      "count = lambda families: sorted([s.name, s.value] for f in families for s in f.samples if s.name.endswith('_total'))",
      "print(json.dumps([count(prometheus(texts['prometheus'])), count(openmetrics(texts['openMetrics']))]))",
    ].join("\n");
    const [first, second] = JSON.parse(
      execFileSync(pythonOf(folder), ["-c", program], { input: JSON.stringify(texts), encoding: "utf8" }),
    ) as [string, number][][];
    expect(first!.length).toBeGreaterThan(5);
    // The first reading of the metrics is itself a request that the second counts.
    const others = (rows: [string, number][]): unknown => rows.filter(([name]) => !name.startsWith("inferyard_requests_total"));
    expect(others(second!)).toEqual(others(first!));
  });
});
