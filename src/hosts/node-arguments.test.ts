import { describe, expect, it } from "vitest";
import { childArguments, moduleArguments, workerArguments } from "./node-arguments.ts";

describe("arguments of Node.js that peers take over", () => {
  it.each([
    [[], [], undefined],
    [["--expose-gc", "--import", "tsx"], ["--expose-gc", "--import", "tsx"], undefined],
    [
      ["--expose-gc", "--inspect-brk=0", "--import", "tsx"],
      ["--expose-gc", "--import", "tsx"],
      ["--import", "tsx"],
    ],
    [["--inspect-port", "9999", "--inspect", "--title=x"], ["--title=x"], []],
    [["--expose-gc", "-e", "text"], [], []],
    [["-pe", "text"], [], []],
    [
      ["-r", "./a.cjs", "--conditions=own", "--input-type=module"],
      ["-r", "./a.cjs", "--conditions=own"],
      ["-r", "./a.cjs", "--conditions=own"],
    ],
  ])("%j: a process gets %j, a worker %j", (given, child, worker) => {
    expect(childArguments(given)).toEqual(child);
    expect(workerArguments(given)).toEqual(worker === undefined ? {} : { execArgv: worker });
  });

  it("that load modules are taken over with the value that follows them", () => {
    expect(moduleArguments(["--import", "tsx", "--max-old-space-size=100", "--require=./a.cjs", "-e"])).toEqual([
      "--import",
      "tsx",
      "--require=./a.cjs",
    ]);
  });
});
