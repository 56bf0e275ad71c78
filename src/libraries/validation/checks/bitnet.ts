/** Checks of bitnet.cpp as a library. */
import { type LibraryCheck, statedText } from "./checked-library.ts";

const version: LibraryCheck = {
  step: "version",
  run(checked) {
    const ggml = statedText(checked, "ggml_version");
    return ggml === undefined ? { detail: "it states none" } : { detail: `ggml ${ggml}`, version: `ggml ${ggml}` };
  },
};

const abi: LibraryCheck = {
  step: "abi",
  run: () => ({
    verdict: "not provable",
    detail: "no release of bitnet.cpp states the signatures of these functions, so nothing can be compared",
  }),
};

export const bitnetChecks: readonly LibraryCheck[] = [version, abi];
