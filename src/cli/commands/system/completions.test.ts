import { execFileSync, spawnSync } from "node:child_process";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { run } from "../../main.ts";
import type { Terminal } from "../../terminal.ts";

async function script(shell: string): Promise<string> {
  let text = "";
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const terminal: Partial<Terminal> = { stdout, stderr: stdout, environment: {}, signal: new AbortController().signal };
  expect(await run(["completions", shell], terminal as Terminal)).toBe(0);
  return text;
}

const missing = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).error !== undefined;

describe.each(["bash", "zsh", "fish"])("the completion script for %s", (shell) => {
  const skip = missing(shell);
  it.skipIf(skip)(`is a script of that shell${skip ? ` (skipped: ${shell} is not on this machine)` : ""}`, async () => {
    const checked = spawnSync(shell, ["-n"], { input: await script(shell), encoding: "utf8" });
    expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: "" });
  });

  it("knows every command and flag", async () => {
    const text = await script(shell);
    for (const word of [
      "embed",
      "explain",
      "backends",
      "doctor",
      "verify",
      "bench",
      "distill",
      "config",
      "version",
      "completions",
    ]) {
      expect(text).toMatch(new RegExp(`\\b${word}\\b`));
    }
    expect(text).toContain("batch-tokens");
  });

  it("is refused for a shell there is none for", async () => {
    await expect(
      run(["completions", "powershell"], {
        stdout: new Writable(),
        stderr: new Writable({ write: () => {} }),
      } as Partial<Terminal> as Terminal),
    ).resolves.toBe(2);
  });
});

describe.skipIf(missing("bash"))("completing in bash", () => {
  async function complete(...words: string[]): Promise<string[]> {
    const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`;
    const program = `${await script("bash")}\n${set}\n_inferyard\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", program], { encoding: "utf8" }).trim().split("\n");
  }

  it.each([
    [
      ["inferyard", "ver"],
      ["verify", "verify-receipt", "version"],
    ],
    [["inferyard", "embed", "--pool"], ["--pooling"]],
    [
      ["inferyard", "embed", "--policy", ""],
      ["priority", "manifest", "fastest"],
    ],
    [
      ["inferyard", "distill", "--bits", ""],
      ["4", "8"],
    ],
    [["inferyard", "completions", "--qu"], ["--quiet"]],
  ])("%j", async (words, expected) => expect(await complete(...words)).toEqual(expected));
});
