/** Bills of materials in the form of CycloneDX 1.5 (ECMA-424), the same bytes for the same components. */
import { createHash } from "node:crypto";
import type { Component } from "./components.ts";

/** What a bill of materials is of. */
export interface Subject {
  /** "inferyard", "inferyard-omni", or the name of an image. */
  readonly name: string;
  readonly version: string;
  readonly type: "application" | "container" | "library";
}

/** An SPDX expression; single ids are told apart from compounds. */
function describeLicense(license: string | undefined): object {
  if (license === undefined) return {};
  return { licenses: /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }] };
}

/** A bill of materials as JSON text. Components that are there twice are listed once. It has no time, and its serial number is made of its content. */
export function describeMaterials({ name, version, type }: Subject, components: readonly Component[]): string {
  const byUrl = new Map(components.map((component) => [component.purl, component]));
  const listed = [...byUrl.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1));
  const own = `pkg:generic/${name}@${version}`;
  const content = {
    metadata: {
      component: { "bom-ref": own, type, name, version, ...describeLicense("Apache-2.0") },
    },
    components: listed.map((component) => ({
      "bom-ref": component.purl,
      type: "library",
      name: component.name,
      version: component.version,
      purl: component.purl,
      ...describeLicense(component.license),
    })),
    dependencies: [{ ref: own, dependsOn: listed.map(({ purl }) => purl) }],
  };
  const head = { bomFormat: "CycloneDX", specVersion: "1.5", serialNumber: makeSerialNumber(content), version: 1 };
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`;
}

/** The components of a bill of materials that `describeMaterials` wrote, without the texts of their licences. */
export function readMaterials(text: string): readonly Component[] {
  type Listed = Omit<Component, "license"> & { readonly licenses?: readonly { license?: { id: string }; expression?: string }[] };
  const { components } = JSON.parse(text) as { components: readonly Listed[] };
  return components.map(({ name, version, purl, licenses }) => {
    const [license] = licenses ?? [];
    return { name, version, purl, license: license?.expression ?? license?.license?.id, texts: [] };
  });
}

/** A bill of materials of `npm sbom` without what differs from run to run: its time and its serial number, which is made of the content instead. */
export function stableMaterials(text: string): string {
  const { serialNumber: _random, ...content } = JSON.parse(text) as Record<string, unknown>;
  const { timestamp: _now, component, ...metadata } = content["metadata"] as Record<string, unknown>;
  // npm calls the root component by its folder.
  const { "bom-ref": reference } = component as { readonly "bom-ref": string };
  const named = { ...(component as object), name: reference.slice(0, reference.lastIndexOf("@")) };
  const stable = { ...content, metadata: { ...metadata, component: named } };
  return `${JSON.stringify({ serialNumber: makeSerialNumber(stable), ...stable }, null, 2)}\n`;
}

/** A UUID (version 8, RFC 9562) made of the digest of the content. */
function makeSerialNumber(content: object): string {
  const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}
