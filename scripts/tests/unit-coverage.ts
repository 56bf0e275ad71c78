/** Coverage by V8, counted in the processes of the project `counted` alone: counting slows the others down, and no threshold needs them. */
import v8 from "@vitest/coverage-v8";
import type { CoverageProviderModule } from "vitest/node";

const isCounted = process.env["COUNT_COVERAGE"] === "1";

const provider: CoverageProviderModule = {
  getProvider: () => v8.getProvider(),
  startCoverage: async (options) => (isCounted ? await v8.startCoverage?.(options) : undefined),
  takeCoverage: async (options) => (isCounted ? await v8.takeCoverage?.(options) : undefined),
  stopCoverage: async (options) => (isCounted ? await v8.stopCoverage?.(options) : undefined),
};

// oxlint-disable-next-line import/no-default-export -- vitest asks for it
export default provider;
