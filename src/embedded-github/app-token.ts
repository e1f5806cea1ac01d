import { generateKeyPair, sign } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);
let shared: Promise<string> | undefined;

/** One key for the whole process: making one takes longer than all the rest of the start. */
export function privateKey(): Promise<string> {
  shared ??= generate("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
    publicKeyEncoding: { type: "pkcs1", format: "pem" },
  }).then((pair) => pair.privateKey);
  return shared;
}

/** The JWT an App signs in with. */
export function appJwt(appId: number, key: string): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = part({ alg: "RS256", typ: "JWT" });
  const claims = part({ iat: now - 60, exp: now + 540, iss: String(appId) });
  const signature = sign("sha256", Buffer.from(`${head}.${claims}`), key).toString("base64url");
  return `${head}.${claims}.${signature}`;
}
