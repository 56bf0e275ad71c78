import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLine } from "../../../../test/fixtures/processes/command-streams.ts";
import { JobStore } from "../../../jobs/store/job-store.ts";
import { run } from "../../main.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-jobs-cli-"));
const inferyard = commandLine(run);
const environment = { INFERYARD_HOME: join(folder, "home") };
const call = (...args: string[]) => inferyard(["jobs", ...args], { directory: folder, environment });
const embed = ["run", "embed", "--input", "rows.jsonl", "--output", "out.jsonl", "--workers", "0"];
beforeAll(() => {
  writeFileSync(join(folder, "rows.jsonl"), '{"id":"n","input":7}\n{broken\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("jobs", () => {
  it("refuse what does not exist or cannot be", async () => {
    const refused: readonly (readonly [args: string[], said: RegExp])[] = [
      [["run", "dance", ...embed.slice(2)], /no jobs of the task "dance".*INPUT_INVALID/s],
      [[...embed, "--options", "{"], /--options is not JSON/],
      [[...embed, "--options", '{"dimension":4}'], /embed has no option dimension/],
      [[...embed, "--options", '{"dimensions":0}'], /dimensions is 0/],
      [[...embed, "--failed", "rows.jsonl"], /must be different files/],
      [[...embed, "--id", "../x"], /is no id of a job/],
      [[...embed, "--redis", "http://x"], /--redis is no URL of a Redis server/],
      [[...embed, "--redis", "redis://127.0.0.1:1"], /QUEUE_UNAVAILABLE/],
      [["run", "embed", "--input", "none.jsonl", "--output", "out.jsonl"], /none\.jsonl cannot be read/],
      [["run", "embed", "--input", "rows.csv", "--output", "out.jsonl"], /rows\.csv has none of the endings/],
      [["status", "none"], /there is no job none here \[NOT_FOUND\]/],
      [["pause", "none"], /NOT_FOUND/],
    ];
    for (const [args, said] of refused) {
      const { code, stderr } = await call(...args);
      expect([args, stderr, code]).toEqual([args, expect.stringMatching(said), expect.not.stringMatching("0")]);
    }
  });

  it("are run, listed, asked for failed rows, and removed", async () => {
    // No row needs a worker: one is no row, and the other is refused by a worker that is this process.
    writeFileSync(join(folder, "rows.jsonl"), "{broken\n[]\n");
    const ran = await call(
      ...embed,
      "--id",
      "a",
      "--variant",
      "fp32",
      "--target",
      "native",
      "--retries",
      "0",
      "--chunk-rows",
      "1",
    );
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^a: done, 100 %, 0 results, 2 set aside/) as string });
    expect(readFileSync(join(folder, "out.jsonl"), "utf8")).toBe("");
    const { stdout } = await call("status", "a", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      id: "a",
      status: "done",
      rows: 2,
      isRunning: false,
      definition: {
        chunkRows: 1,
        failed: join(folder, "out.jsonl.failed.jsonl"),
        work: { task: "embed", model: "builtin", retries: 0, options: { placement: { variant: "fp32", target: ["native"] } } },
      },
    });
    expect((await call("status")).stdout).toContain("a: done");
    expect((await call("failed", "a")).stdout).toMatch(
      /^row 1: INPUT_INVALID the line is not JSON.*\nrow 2: INPUT_INVALID the row is no object\n$/,
    );
    expect((await call("failed", "a", "--json")).stdout.split("\n")).toHaveLength(3);
    expect((await call("cancel", "a")).stderr).toContain("the job a is done");
    expect((await call(...embed, "--id", "a")).stderr).toContain("was asked to do something else");
    expect((await call("remove", "a")).stdout).toBe("a is removed\n");
    expect((await call("status")).stdout).toBe("no jobs on this machine\n");
  });

  it("that nobody runs are paused and cancelled by their record", async () => {
    const file = (name: string) => ({ path: join(folder, name), format: "jsonl" as const });
    const store = new JobStore(join(environment.INFERYARD_HOME, "jobs"));
    await store.create("b", {
      work: { task: "embed", model: "builtin", options: {}, retries: 0 },
      input: file("rows.jsonl"),
      output: file("b.jsonl"),
      failed: join(folder, "b.failed.jsonl"),
      chunkRows: 1,
      redis: "redis://127.0.0.1:1",
    });
    expect((await call("status")).stdout).toContain("b: interrupted");
    expect((await call("pause", "b")).stdout).toContain("b: paused");
    expect((await call("resume", "b", "--redis", "redis://127.0.0.1:2")).stderr).toContain(
      "the queue of the job b is redis://127.0.0.1:1",
    );
    expect((await call("resume", "b")).stderr).toContain("QUEUE_UNAVAILABLE");
  });
});
