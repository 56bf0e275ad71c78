/** Checks of bitnet.cpp as a library. */
import { type Check, statedText } from "./checked-library.ts";

const version: Check = {
  step: "version",
  run(checked) {
    const ggml = statedText(checked, "ggml_version");
    return ggml === undefined ? { detail: "it states none" } : { detail: `ggml ${ggml}`, version: `ggml ${ggml}` };
  },
};

const abi: Check = {
  step: "abi",
  run: () => ({
    verdict: "not provable",
    detail: "no release of bitnet.cpp states the signatures of these functions, so nothing can be compared",
  }),
};

export const bitnetChecks: readonly Check[] = [version, abi];
