/** Activations of products and convolutions as programs on lanes. */
import type { Activation } from "../../../ir/operations.ts";
import { activate } from "../../wasm/math/activation.ts";
import { at } from "../../../../contract/checked.ts";
import { type LaneProgram, laneProgram } from "./lane-program.ts";

/** The program of an activation of one vector; undefined for none. */
export function activationProgram(activation: Activation): LaneProgram | undefined {
  return activation === "none" ? undefined : laneProgram(1, (f, inputs) => activate(f, activation, at(inputs, 0)));
}
