import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { serverDefaults } from "../../settings/server-options.ts";
import { requestLimits } from "./request-limits.ts";

it("docs/reference/http.md has a row for each limit, with its value", () => {
  const page = readFileSync(new URL("../../../docs/reference/http.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| [^|]+ \| (?<value>[\d,]+) \| `(?<name>\w+)` \|/gm)];
  const documented = rows.map(({ groups = {} }) => [groups["name"], Number(groups["value"]?.replaceAll(",", ""))]);
  const { maxBodyBytes, maxJsonBytes, maxJsonDepth, maxJsonValues, maxTexts } = serverDefaults;
  expect(Object.fromEntries(documented)).toEqual({
    maxBodyBytes,
    maxJsonBytes,
    maxJsonDepth,
    maxJsonValues,
    maxTexts,
    ...requestLimits,
  });
});
