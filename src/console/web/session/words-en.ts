// The words of the pages before the sign-in in English.

export const words = {
  signIn: {
    title: 'Sign in',
    submit: 'Sign in',
    create: 'Create an account',
    forgot: 'Forgot your password?',
    sso: 'Sign in with single sign-on',
    failed: 'The sign-in failed.',
    reasons: {
      access_denied: 'The identity provider denied access.',
      account_not_linked: 'Your e-mail address belongs to an account that this sign-in cannot use. Sign in with its password.',
      email_not_valid: 'The identity provider returned no valid e-mail address.',
      email_not_verified: 'The identity provider has not verified your e-mail address.',
      invalid_code:
        'The identity provider did not confirm the sign-in. The operator of this gateway finds the reason in the log.',
      signup_disabled:
        'You have no account here, and single sign-on may not create one for you. Ask the operator of this gateway.',
      temporarily_unavailable: 'Single sign-on is not available at the moment. Try again in a minute.',
    } as Record<string, string>,
    redeeming: 'Signing in …',
    verifyAgain: 'Send the verification mail again',
    verifySent: 'If the address waits for verification, a mail is on its way.',
  },
  signUp: {
    title: 'Create an account',
    submit: 'Create account',
    done: 'We have sent you a mail. Open the link in it to activate your account.',
    closed: 'New accounts cannot be created here. Ask the operator of this gateway.',
    have: 'Sign in instead',
  },
  reset: {
    title: 'Reset your password',
    ask: 'Send a link',
    asked: 'If an account with this address exists, we have sent a mail to it.',
    newPassword: 'New password',
    submit: 'Set password',
    done: 'Your password is set. You can sign in with it now.',
  },
  verify: {
    title: 'Verify your e-mail address',
    hint: 'The password that you chose when you created the account.',
    submit: 'Verify',
    done: 'Your address is verified. You can sign in now.',
  },
  invitation: {
    title: 'Join the team',
    submit: 'Join',
    missing: 'This address has no invitation. Open the link in the mail.',
    reasons: {
      FORBIDDEN: 'The invitation is for another e-mail address than yours, or yours is not verified.',
      INVALID_TOKEN: 'The invitation was used or withdrawn, or has expired. Ask for another one.',
    },
    to: (team: string) => `You are invited to the team ${team}.`,
    another: 'Sign in with another account',
  },
}
