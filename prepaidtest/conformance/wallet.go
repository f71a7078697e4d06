package conformance

import (
	"crypto/rand"
	"encoding/base64"
	"net/url"
)

func walletCases() []Case {
	const wallet, dip = "POST /accounts/{id}/wallet/{provider}", "POST /accounts/{id}/dip"
	exchange := func(p *probe, path, application, key, ephemeral string) *response {
		if ephemeral == "" {
			secret := make([]byte, 32)
			_, _ = rand.Read(secret) // never fails
			ephemeral = base64.StdEncoding.EncodeToString(secret)
		}
		return p.post(path+"/dip", map[string]any{"application_id": application, "key_id": key, "ephemeral_key": ephemeral})
	}
	return []Case{
		with("4.4", "wallet_is_provisioned", wallet, func(p *probe) {
			p.post(p.accountPath("/wallet/"+url.PathEscape(p.target.WalletProvider)), map[string]any{}).status(200).read(walletShape())
			p.get(p.accountPath("/tokens")).status(200).objects(walletTokenShape())
		}, "AccountID", "WalletProvider", "ChangeAccounts"),
		with("4.4", "unsupported_wallet", wallet, func(p *probe) {
			p.post(p.accountPath("/wallet/"+noAccount), map[string]any{}).refused(404)
		}, "AccountID"),
		with("4.4", "dip_answers_data", dip, func(p *probe) {
			exchange(p, p.accountPath(""), p.target.ApplicationID, p.target.KeyID, "").status(200).octets()
		}, "AccountID", "ApplicationID", "KeyID", "ChangeAccounts"),
		with("4.4", "dip_bad_application_id", dip, func(p *probe) {
			exchange(p, p.accountPath(""), "conformance", unknownUUID, "").refused(400, "bad_application_id")
		}, "AccountID"),
		with("4.4", "dip_bad_key_id", dip, func(p *probe) {
			exchange(p, p.accountPath(""), p.target.ApplicationID, "conformance", "").refused(400, "bad_key_id")
		}, "AccountID", "ApplicationID"),
		with("4.4", "dip_bad_ephemeral_key", dip, func(p *probe) {
			exchange(p, p.accountPath(""), p.target.ApplicationID, p.target.KeyID, "AAAA").refused(400, "bad_ephemeral_key")
		}, "AccountID", "ApplicationID", "KeyID"),
		with("4.4", "dip_bad_account", dip, func(p *probe) {
			exchange(p, "accounts/"+noAccount, p.target.ApplicationID, p.target.KeyID, "").refused(400, "bad_account")
		}, "ApplicationID", "KeyID"),
	}
}
