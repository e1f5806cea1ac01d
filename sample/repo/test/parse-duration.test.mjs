import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "../src/parse-duration.mjs";

test("a duration of one part is its milliseconds", () => {
  assert.equal(parseDuration("250ms"), 250);
  assert.equal(parseDuration("90s"), 90_000);
  assert.equal(parseDuration("15m"), 900_000);
  assert.equal(parseDuration("2h"), 7_200_000);
  assert.equal(parseDuration("2d"), 172_800_000);
});

test("a duration of several parts is their sum", () => {
  assert.equal(parseDuration("1h30m"), 5_400_000);
  assert.equal(parseDuration("1d2h3m4s5ms"), 93_784_005);
});

test("what follows the last unit is refused, not ignored", () => {
  assert.throws(() => parseDuration("1h30"), TypeError);
  assert.throws(() => parseDuration("5m later"), TypeError);
});

test("what is not a duration is refused", () => {
  assert.throws(() => parseDuration(""), TypeError);
  assert.throws(() => parseDuration("soon"), TypeError);
});
