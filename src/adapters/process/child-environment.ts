const ALLOWED_NAMES = new Set([
  "PATH",
  "HOME",
  "USER",
  "USERNAME",
  "USERPROFILE",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TMP",
  "TEMP",
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "CI",
  "NODE_ENV",
  "SYSTEMROOT",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "APPDATA",
  "LOCALAPPDATA",
  "RUNNER_OS",
  "RUNNER_ARCH",
  "RUNNER_TEMP",
  "RUNNER_TOOL_CACHE",
  // By this the Actions runner finds, and ends, what a job left running.
  "RUNNER_TRACKING_ID",
  "JAVA_HOME",
  "GOROOT",
  "GOPATH",
  "GOCACHE",
  "GOMODCACHE",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "DOTNET_ROOT",
  "ANDROID_HOME",
  "NVM_DIR",
  "PNPM_HOME",
  "COREPACK_HOME",
  "PYENV_ROOT",
  "VIRTUAL_ENV",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
]);
const ALLOWED_PREFIXES = ["LC_", "XDG_"];

/** Credentials of Crunch itself, and the files by which a step steers the rest of its job. */
const FORBIDDEN_NAMES = new Set([
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "GITHUB_ENTERPRISE_TOKEN",
  "GH_ENTERPRISE_TOKEN",
  "PRIVATE_KEY",
  "PRIVATE_KEY_PATH",
  "WEBHOOK_SECRET",
  "GITHUB_CLIENT_SECRET",
  "GITHUB_OUTPUT",
  "GITHUB_ENV",
  "GITHUB_PATH",
  "GITHUB_STATE",
  "GITHUB_STEP_SUMMARY",
]);
const FORBIDDEN_PREFIXES = ["INPUT_", "ACTIONS_", "STATE_"];

export interface ExtraEnvironment {
  /** Set as given. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names to take over from the parent besides those that are always allowed. */
  readonly passEnv?: readonly string[];
}

/** The environment for agents and gate commands: an allow list, and never a token of Crunch's own. */
export function childEnvironment(parent: NodeJS.ProcessEnv, extra: ExtraEnvironment): Record<string, string> {
  const passed = new Set(extra.passEnv);
  const fromParent = Object.entries(parent).filter(([name]) => isAllowed(name) || passed.has(name));
  const all = [...fromParent, ...Object.entries(extra.env ?? {})];
  const result: Record<string, string> = {};
  for (const [name, value] of all) {
    if (value !== undefined && !isForbidden(name)) result[name] = value;
  }
  return result;
}

// Names are compared in upper case: Windows does not tell them apart, and proxies are named in both.
function isAllowed(name: string): boolean {
  const upper = name.toUpperCase();
  return ALLOWED_NAMES.has(upper) || ALLOWED_PREFIXES.some((prefix) => upper.startsWith(prefix));
}

function isForbidden(name: string): boolean {
  const upper = name.toUpperCase();
  return FORBIDDEN_NAMES.has(upper) || FORBIDDEN_PREFIXES.some((prefix) => upper.startsWith(prefix));
}
