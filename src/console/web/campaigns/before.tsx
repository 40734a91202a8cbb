// The preview of a campaign: the gateway counts what would happen if the form were sent, and stores nothing.
import { type ReactNode, useEffect, useState } from 'react'
import { text as failures } from '../failures/words.ts'
import {
  type CreateCampaignInput,
  type LeftOutFragment,
  PreviewCampaignDocument,
  type PreviewCampaignQuery,
} from '../generated/campaigns/graphql.ts'
import { askPatiently } from '../graph/ask-patiently.ts'
import { ask, type Team } from '../graph/request.ts'
import { refuseNoTime } from '../send/no-time.ts'
import { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Time } from '../ui/time.tsx'
import { warningIn } from '../warnings/warning-in.ts'
import { count, words } from '../words/words.ts'
import styles from './campaigns.module.css'
import { text } from './words.ts'

export type Preview = PreviewCampaignQuery['previewCampaign']

interface Asked {
  preview: Preview | null
  error: unknown
  loading: boolean
}

/** The time without a change after which the gateway is asked. */
const restMs = 600

/** The preview of the input, once nothing has changed for a moment. `input` is null while there is nothing to ask for. */
export function usePreview(input: CreateCampaignInput | null): Asked {
  const { team } = useWorkspace()
  const [asked, setAsked] = useState<Asked>({ preview: null, error: null, loading: false })
  useEffect(() => {
    if (!input) return setAsked({ preview: null, error: null, loading: false })
    setAsked((before) => ({ ...before, loading: true }))
    let stop = () => {}
    const timer = setTimeout(() => {
      stop = askPatiently(
        // A campaign may be looked at before it has a name.
        () => read(team, { ...input, name: input.name || text.create }),
        (preview) => setAsked({ preview, error: null, loading: false }),
        (error) => setAsked({ preview: null, error, loading: false }),
      )
    }, restMs)
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [team, input])
  return asked
}

async function read(team: Team, input: CreateCampaignInput): Promise<Preview> {
  refuseNoTime(input.scheduledAt)
  return (await ask(team, PreviewCampaignDocument, { input })).previewCampaign
}

/** `lineOf` tells where an item of the recipients was written. */
export function Before({ asked: { preview, error, loading }, lineOf }: { asked: Asked; lineOf: (index: number) => string }) {
  return (
    <section className={parts.panel} aria-label={text.before} aria-busy={loading}>
      <div className={parts.panelHead}>
        <h2>{text.before}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        {!preview && !error && <p className={parts.hint}>{loading ? words.loading : text.beforeEmpty}</p>}
        <Missing error={error} />
        {preview && <Facts preview={preview} lineOf={lineOf} />}
      </div>
    </section>
  )
}

/** A missing field is no failure: the form is not finished. */
function Missing({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || error.issues.length === 0) return <Refusal error={error} />
  return (
    <div>
      <h3 className={parts.hint}>{text.missing}</h3>
      <ul aria-label={text.missing}>
        {error.issues.slice(0, 10).map(({ path, message }) => (
          <li key={`${path} ${message}`}>{`${path}: ${message}`}</li>
        ))}
      </ul>
    </div>
  )
}

function Facts({ preview, lineOf }: { preview: Preview; lineOf: (index: number) => string }) {
  const { recipientsCount, repeatedCount, sendableCount, invalid, suppressed, missing, firstAt, lastAt, ratePerMinute } = preview
  const isNow = Date.parse(firstAt) < Date.now() + 60_000
  return (
    <>
      <dl className={parts.details}>
        <Fact name={text.distinct}>
          <strong>{count(recipientsCount)}</strong>{' '}
          {repeatedCount > 0 && <span className={parts.hint}>{text.repeated(count(repeatedCount))}</span>}
        </Fact>
        <Fact name={text.receive}>
          <strong>{count(sendableCount)}</strong>
        </Fact>
        <LeftOut name={text.invalid} outs={invalid} lineOf={lineOf} />
        <LeftOut name={text.suppressed} outs={suppressed} lineOf={lineOf} />
        <LeftOut name={text.withoutValue} outs={missing} lineOf={lineOf} />
        <Quota {...preview} />
        <Fact name={text.first}>{isNow ? text.now : <Time at={firstAt} exact />}</Fact>
        <Fact name={text.lastAt}>{lastAt ? <Time at={lastAt} exact /> : ratePerMinute ? text.late : text.noEnd}</Fact>
        <Fact name={text.rate}>{ratePerMinute ? count(ratePerMinute) : text.noRate}</Fact>
      </dl>
      {preview.warnings.length > 0 && (
        <div className={styles.warning}>
          <h3>{text.warnings}</h3>
          <ul aria-label={text.warnings}>
            {preview.warnings.map((warning) => (
              <li key={warning}>{warningIn(warning)}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

function Quota({ quota, isWithinQuota }: Preview) {
  if (!quota) return isWithinQuota ? null : <Fact name={text.quotaAfter}>{text.quotaShort}</Fact>
  return (
    <Fact name={text.quotaAfter}>
      {text.quotaOf(count(quota.leftAfter), count(quota.limit))}
      {quota.missing > 0 && <p className={parts.fault}>{text.quotaMissing(count(quota.missing))}</p>}
    </Fact>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function LeftOut({ name, outs, lineOf }: { name: string; outs: LeftOutFragment; lineOf: (index: number) => string }) {
  if (outs.count === 0) return null
  return (
    <Fact name={name}>
      <details>
        <summary className={parts.fault}>{count(outs.count)}</summary>
        <ul className={parts.hint} aria-label={name}>
          {outs.first.map(({ to, index, reason }) => {
            const who = [to, index === null || index === undefined ? '' : lineOf(index)].filter(Boolean).join(', ')
            const why = failures.byCode[reason]?.[0] ?? reason.replace(/^recipients\.\d+\.?/, '')
            return <li key={`${to} ${index}`}>{text.leftOut(who, why)}</li>
          })}
          {outs.count > outs.first.length && <li>{text.andMore(count(outs.count - outs.first.length))}</li>}
        </ul>
      </details>
    </Fact>
  )
}
