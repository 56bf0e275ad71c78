/** Checks of PJRT plugins, by the head of the struct that they return. */
import { pjrtApi } from "../../contracts/index.ts";
import { readField } from "../../ffi/index.ts";
import { type LibraryCheck, type CheckedLibrary, refuse } from "./checked-library.ts";

interface ApiHead {
  readonly address: bigint;
  readonly size: number;
  readonly versionSize: number;
  readonly major: number;
  readonly minor: number;
}

/** The oldest version whose functions have the places of later ones (pjrt_c_api.h). */
const oldestMinor = 54;
/** Bytes of PJRT_Api_Version, and of the head of PJRT_Api, which it is part of. */
const versionBytes = 24;
/** More than any plugin has; the known ones have 118 to 138 functions. */
const maxFunctions = 1_000;
/** Functions of releases that were looked at, by minor version. */
const knownFunctions: Readonly<Record<number, number>> = { 81: 118, 106: 136, 115: 138 };

function readHead(checked: CheckedLibrary): ApiHead {
  const { ffi, library } = checked;
  const address = library.bind("GetPjrtApi", { result: "pointer", parameters: [] })();
  if (address === 0n) throw refuse(checked, "version", { expected: "GetPjrtApi returns a PJRT_Api", found: "NULL" });
  const bytes = ffi.bytesAt(address, pjrtApi.size);
  const number = (field: string): number => Number(readField(pjrtApi, bytes, field));
  return {
    address,
    size: number("struct_size"),
    versionSize: number("version_struct_size"),
    major: number("major_version"),
    minor: number("minor_version"),
  };
}

const version: LibraryCheck = {
  step: "version",
  run(checked) {
    const { versionSize, major, minor } = readHead(checked);
    const stated = `${major}.${minor}`;
    if (versionSize === versionBytes && major === 0 && minor >= oldestMinor) return { detail: `API ${stated}`, version: stated };
    throw refuse(checked, "version", {
      expected: `version 0.${oldestMinor} of the PJRT API or later, in a PJRT_Api_Version of ${versionBytes} bytes`,
      found: `version ${stated} in one of ${versionSize} bytes`,
    });
  },
};

const abi: LibraryCheck = {
  step: "abi",
  run(checked) {
    const { address, size, minor } = readHead(checked);
    const functions = (size - pjrtApi.size) / 8;
    const known = knownFunctions[minor];
    const isWhole = Number.isInteger(functions) && functions > 0 && functions <= maxFunctions;
    if (!isWhole || (known !== undefined && functions !== known)) {
      throw refuse(checked, "abi", {
        expected: `a PJRT_Api of ${known === undefined ? "whole" : known} functions behind ${pjrtApi.size} bytes`,
        found: `struct_size ${size}, that is ${functions} functions`,
      });
    }
    const addresses = new BigUint64Array(checked.ffi.bytesAt(address + BigInt(pjrtApi.size), functions * 8).buffer);
    const nulls = addresses.filter((each) => each === 0n).length;
    const checkedBy = known === undefined ? "as many as its struct_size states" : `as API 0.${minor} has`;
    return { detail: `PJRT_Api has ${functions} functions, ${checkedBy}${nulls === 0 ? "" : `; ${nulls} of them are NULL`}` };
  },
};

export const pjrtChecks: readonly LibraryCheck[] = [version, abi];
