/** Whether the functions of a contract are there: in the library itself, or in one that it needs, where the loader finds them too. */
import { missingFunctions } from "../../contracts/index.ts";
import { type LibraryCheck, refuse } from "./checked-library.ts";

export const functionsCheck: LibraryCheck = {
  step: "functions",
  run(checked) {
    const { library, contract } = checked;
    const missing = missingFunctions(contract, (name) => library.has(name));
    const { length } = contract.required;
    if (missing.length > 0) {
      throw refuse(checked, "functions", {
        expected: `${length} functions of ${contract.title}`,
        found: `${length - missing.length} of them; missing: ${missing.map((names) => names.join(" or ")).join(", ")}`,
      });
    }
    const optional = Object.fromEntries(Object.entries(contract.optional).filter(([name]) => library.has(name)));
    const { length: offered } = Object.keys(contract.optional);
    const more = offered === 0 ? "" : `, ${Object.keys(optional).length} of ${offered} optional ones`;
    return { detail: `${length} of ${length} required functions${more}`, optional };
  },
};
