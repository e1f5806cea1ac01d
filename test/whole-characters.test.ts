import { describe, expect, it } from "vitest";
import { beginningOf, endOf } from "../src/whole-characters.js";

describe("a text that is cut", () => {
  it("has no half of a character where it is cut", () => {
    expect(beginningOf("a😀b", 2)).toBe("a");
    expect(beginningOf("a😀b", 3)).toBe("a😀");
    expect(endOf("a😀b", 2)).toBe("b");
    expect(endOf("a😀b", 3)).toBe("😀b");
  });

  it("stays as it is when it is short enough", () => {
    expect(beginningOf("😀", 2)).toBe("😀");
    expect(endOf("😀", 2)).toBe("😀");
    expect(endOf("😀", 0)).toBe("");
  });
});
