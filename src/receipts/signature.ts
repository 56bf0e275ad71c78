/** Ed25519 signatures of receipts (RFC 8032), over their canonical form (RFC 8785). Keys are PEM: PKCS #8 for private ones, SPKI for public ones. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { InferyardError, getMessage, invalidInput } from "../contract/errors.ts";
import { toSha256 } from "../storage/sha256.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Receipt, ReceiptSignature } from "./receipt.ts";

/** Signs a receipt with a private key in PEM. Throws INPUT_INVALID unless it is an Ed25519 key. */
export function signReceipt(receipt: Receipt, privatePem: string): Receipt {
  const key = readKey(() => createPrivateKey(privatePem), "private");
  const publicKey = createPublicKey(key);
  const signature = {
    algorithm: "Ed25519",
    canonicalization: "RFC8785",
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    keyId: getKeyId(publicKey),
  } as const;
  const value = sign(null, signedBytes({ ...receipt, signature }), key).toString("base64");
  return { ...receipt, signature: { ...signature, value } };
}

/** Why the signature of a receipt does not hold; undefined if it does. */
export function signatureProblem(receipt: Receipt, signature: ReceiptSignature): string | undefined {
  const { value, ...unsigned } = signature;
  let key: KeyObject;
  try {
    key = readKey(() => createPublicKey(signature.publicKey), "public");
  } catch (error) {
    return `its public key cannot be read: ${getMessage(error)}`;
  }
  if (getKeyId(key) !== signature.keyId) return `its key id is ${signature.keyId}, and its public key has ${getKeyId(key)}`;
  const bytes = Buffer.from(value, "base64");
  // Base64 that decodes to the same bytes in another spelling would be another file with the same signature.
  if (bytes.toString("base64") !== value) return "its value is not base64 in the usual spelling";
  let content: Buffer;
  try {
    content = signedBytes({ ...receipt, signature: unsigned });
  } catch (error) {
    return getMessage(error); // it is not JSON, so that it was never signed
  }
  if (verify(null, content, key, bytes)) return undefined;
  return "the signature does not fit the content: the receipt was altered, or signed with another key";
}

/** The id of a public key in PEM. Throws INPUT_INVALID for what is no Ed25519 key. */
export function keyIdOfPem(pem: string): string {
  // Node.js would derive the public key from a private one, which then lies where others verify.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw invalidInput(
      "this is a private key, and receipts are verified with the public one",
      "openssl pkey -in key.pem -pubout -out public.pem",
    );
  }
  return getKeyId(readKey(() => createPublicKey(pem), "public"));
}

function getKeyId(key: KeyObject): string {
  return toSha256(key.export({ type: "spki", format: "der" }));
}

function signedBytes(receipt: object): Buffer {
  return Buffer.from(canonicalJson(receipt));
}

function readKey(read: () => KeyObject, kind: "private" | "public"): KeyObject {
  const remedy =
    "make a pair with: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out public.pem";
  let key: KeyObject;
  try {
    key = read();
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `this is no ${kind} key in PEM, or it has a passphrase: ${getMessage(error)}`, {
      cause: error,
      remedy,
    });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw invalidInput(
    `the ${kind} key is of type ${key.asymmetricKeyType ?? key.type}, and receipts are signed with Ed25519`,
    remedy,
  );
}
