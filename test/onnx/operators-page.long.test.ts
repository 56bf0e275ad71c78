/** The table of operators: one family for each, versions that ascend, and the page that is written from it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { measureOperators } from "../../scripts/conformance/measure-operators.ts";
import { operatorsPage, operatorsText, operatorTypesFile } from "../../scripts/generate/pages/operators-page.ts";
import { operatorFamilies } from "../../src/engine/onnx/operators/table.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, name] = needsData("onnx-conformance");

it("names no operator in two families", () => {
  const names = Object.values(operatorFamilies).flatMap((family) => Object.keys(family));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

it("has the versions of every operator in order", () => {
  for (const family of Object.values(operatorFamilies)) {
    for (const [name, rules] of Object.entries(family)) {
      const versions = rules.map(({ since }) => since);
      expect(versions, name).toEqual([...new Set(versions)].toSorted((one, other) => one - other));
    }
  }
});

it("is what docs/reference/operators.md says: npm run schemas", () => {
  expect(readFileSync(operatorsPage, "utf8")).toBe(operatorsText());
});

it.skipIf(skip)(`${name}: kernels compute what the page says: npm run measure:operators`, async () => {
  const measured = await measureOperators(`${sharedData}onnx-conformance`);
  expect(measured).toEqual(JSON.parse(readFileSync(operatorTypesFile, "utf8")));
});
