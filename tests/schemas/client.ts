// A client with the types that @open-rpc/typings makes of the OpenRPC document. It only has to compile with `strict`.
import type {
  Code,
  Diagnostic,
  EditedDocument,
  LockExplain,
  LockPlan,
  LockPlanResult,
  UpdatePlan,
  Verdict,
  WorkspaceVerifyResult,
} from "./protocol";

// Required params come first: a call without the others compiles.
export const calls = async (plan: LockPlan, explain: LockExplain, update: UpdatePlan): Promise<string[]> => {
  const planned: LockPlanResult = await plan("/srv/infra");
  const explained = await explain("/srv/infra", "module.network");
  await update("/srv/infra", [{ subject: "module.network", newVersion: "2.0.0" }]);
  const steps: string[] = explained.chain.map((step) => step.location?.path ?? step.constraint);
  return planned.changes.map((change) => change.to?.version ?? change.subject).concat(steps);
};

export const apply = (text: string, document: EditedDocument): string => {
  let result = text;
  for (const edit of [...(document.edits ?? [])].reverse()) {
    const line: number = edit.range.start.line;
    result = line > 0 ? result.slice(0, edit.start) + edit.newText + result.slice(edit.end) : result;
  }
  return document.base === null ? "" : result;
};

export const failures = (result: WorkspaceVerifyResult): Code[] =>
  result.results.flatMap((entry) => (entry.error ? [entry.error.data.code] : []));

export const severity = (diagnostic: Diagnostic): "error" | "warning" | "info" => diagnostic.severity;

// @ts-expect-error There is no such code.
export const code: Code = "NO_SUCH_CODE";
// @ts-expect-error The number of a line is no text.
export const line: string = ({} as EditedDocument).edits![0].range.start.line;
// @ts-expect-error A verdict has a subject.
export const verdict: Verdict = { verdict: "held", detail: "" };
