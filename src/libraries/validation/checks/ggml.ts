/** Checks of ggml and of its builds for one kind of processor. */
import { type GgmlType, ggmlType } from "../../../formats/gguf/ggml-types.ts";
import { typeTraits } from "../../contracts/index.ts";
import { readField } from "../../ffi/index.ts";
import { type LibraryCheck, type CheckedLibrary, ggmlVersion, refuse } from "./checked-library.ts";

const version: LibraryCheck = {
  step: "version",
  run(checked) {
    const stated = ggmlVersion(checked);
    if (stated === undefined) return { detail: "it states none; its table of types tells" };
    return { detail: stated, version: stated };
  },
};

/** Types that every release since September 2024 has, except types removed since. */
const firstTypes = 36;
/** Types that later releases have, and forks under another name. */
const laterTypes = 43;
/** Names of types lie together in the library. What lies further from the first one is no name. */
const namesBytes = 1_048_576;

const abi: LibraryCheck = {
  step: "abi",
  run(checked) {
    const proved: string[] = [];
    const differences: string[] = [];
    const traitsOf = traitsReader(checked);
    for (let number = 0; number < laterTypes; number += 1) {
      const ours = ggmlType({ number, shape: [], room: Number.POSITIVE_INFINITY }, undefined);
      const theirs = traitsOf(number);
      const isSame = theirs?.name.toLowerCase() === ours.name.toLowerCase();
      if (ours.name.includes("given up") || (!isSame && number >= firstTypes)) continue;
      if (isSame && theirs.elements === ours.blockElements && theirs.bytes === ours.blockBytes) proved.push(ours.name);
      else differences.push(describeDifference(number, ours, theirs));
    }
    if (differences.length > 0) {
      throw refuse(checked, "abi", {
        expected: "block sizes and bytes of the types of tensors as GGUF files have them",
        found: `${differences.length} types that differ`,
        details: differences,
      });
    }
    return { detail: `${proved.length} types have the block sizes that GGUF files have` };
  },
};

interface Traits {
  readonly name: string;
  readonly elements: number;
  readonly bytes: number;
}

/** Reads the entry of a type. Undefined where the table has no such entry, which is told by its name. */
function traitsReader({ ffi, library }: CheckedLibrary): (number: number) => Traits | undefined {
  const traits = library.bind("ggml_get_type_traits", { result: "pointer", parameters: ["int32"] });
  const first = traits(0);
  const entry = (address: bigint) => {
    const bytes = ffi.bytesAt(address, typeTraits.size);
    return (field: string) => readField(typeTraits, bytes, field);
  };
  const firstName = BigInt(entry(first)("type_name"));
  return (number) => {
    // The address is computed, since some releases end the process for a number that they do not have.
    const field = entry(first + BigInt(number * typeTraits.size));
    const name = BigInt(field("type_name"));
    const distance = name > firstName ? name - firstName : firstName - name;
    if (distance > namesBytes) return undefined;
    return { name: ffi.stringAt(name), elements: Number(field("blck_size")), bytes: Number(field("type_size")) };
  };
}

function describeDifference(number: number, ours: GgmlType, theirs: Traits | undefined): string {
  const expected = `type ${number}: ${ours.name.toLowerCase()} with ${ours.blockElements} elements in ${ours.blockBytes} bytes expected`;
  return `${expected}, found ${theirs === undefined ? "none" : `${theirs.name} with ${theirs.elements} in ${theirs.bytes}`}`;
}

/** Builds for one kind of processor say by a number above 0 that this one has their instructions. */
const devices: LibraryCheck = {
  step: "devices",
  run(checked) {
    const { library } = checked;
    if (!library.has("ggml_backend_score")) return { detail: "it is no build for one kind of processor" };
    const score = library.bind("ggml_backend_score", { result: "int32", parameters: [] })();
    if (score > 0) return { detail: `this processor has its instructions (ggml_backend_score ${score})` };
    throw refuse(checked, "devices", {
      expected: "a processor with the instructions that this build was compiled for",
      found: `ggml_backend_score ${score}`,
      remedy: "use another build of ggml: inferyard libraries --all lists those that are here",
    });
  },
};

export const ggmlChecks: readonly LibraryCheck[] = [version, abi, devices];
