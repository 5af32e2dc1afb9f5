"""Words of which one excludes the other: what is in production is not in staging, what was locked was not unlocked.

Each line is a kind, with its values divided by `|`. A value is a word in several spellings and languages. Only words
that mean little else are listed.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CHOICES"]

CHOICES: Final = """
stage: production prod produktion produktivsystem producción 生产环境 | staging 预发 | sandbox
visibility: public öffentlich öffentliche público pública publique publiques 公开 | private privat private privado privada privé privée 私密 私有
savings: savings sparkonto ahorro ahorros épargne livret 储蓄 | checking girokonto corriente 活期
currency: eur € euro euros 欧元 | usd $ dollar dollars dólares 美元 | gbp £ pounds pfund libras livres 英镑 | chf franken | cny rmb 人民币
format: pdf | docx | xlsx | csv | pptx | png | jpg jpeg | json | xml
frequency: daily täglich tägliche diario diaria diariamente quotidien quotidienne 每天 每日 | weekly wöchentlich wöchentliche semanal semanalmente hebdomadaire 每周 | monthly monatlich monatliche mensual mensualmente mensuel mensuelle 每月 | yearly annually jährlich jährliche anual anualmente annuel annuelle 每年
messenger: slack | whatsapp | telegram | discord | sms
meeting: zoom | webex | skype
transport: flight flights flug flüge vuelo vuelos 航班 机票 | train trains zug züge tren trenes 火车 高铁 | bus
family: brother bruder hermano frère 哥哥 弟弟 | sister schwester hermana sœur 姐姐 妹妹 | mother mom mum mutter mama madre mamá mère 妈妈 母亲 | father dad vater papa padre papá père 爸爸 父亲 | wife ehefrau esposa mujer épouse 妻子 老婆 | husband ehemann marido esposo mari 丈夫 老公
department: hr personalabteilung rrhh 人事 | finance accounting finanzabteilung buchhaltung finanzas contabilidad comptabilité 财务 会计 | legal rechtsabteilung 法务 | marketing 市场部 | sales vertrieb ventas ventes 销售
language: english englisch inglés anglais 英文 英语 | german deutsch alemán allemand 德文 德语 | spanish spanisch español espagnol 西班牙 | french französisch francés français 法文 法语 | chinese chinesisch chino chinois 中文 | italian italienisch italiano italien 意大利 | japanese japanisch japonés japonais 日文 日语
meal: breakfast frühstück desayuno 早餐 | lunch mittagessen almuerzo déjeuner 午餐 午饭 | dinner abendessen cena dîner 晚餐 晚饭
level: high hoch hohe hoher hohen alta haute | low niedrig niedrige niedriger baja basse
role: admin administrator administrador administrateur 管理员权限 | editor edit redakteur éditeur | viewer reader leser lector lecteur
locked: lock locked gesperrt verriegelt abgeschlossen bloqueado bloqueada verrouillé verrouillée 锁定 锁好 | unlock unlocked entsperrt aufgeschlossen desbloqueado desbloqueada déverrouillé déverrouillée 解锁
enabled: enable enabled activated aktiviert eingeschaltet activado activada activé activée 启用 开启 | disable disabled deactivated deaktiviert ausgeschaltet desactivado desactivada désactivé désactivée 禁用 停用 关闭
muted: mute muted stummgeschaltet silenciado | unmute unmuted
more: raise raised increase increased erhöht aumentado aumentada aumenté augmenté augmentée 调高 提高 | lower lowered decrease decreased reduced reduce gesenkt reduziert reducido reducida reduje réduit réduite baissé 调低 降低
granted: grant granted gewährt concedido accordé 授予 | revoke revoked entzogen widerrufen revocado révoqué 收回
approved: approve approved genehmigt aprobado aprobada approuvé approuvée 批准 | reject rejected decline declined abgelehnt rechazado rechazada refusé refusée rejeté 拒绝 驳回
plan: upgrade upgraded hochgestuft 升级 | downgrade downgraded herabgestuft 降级
paused: pause paused pausiert pausado 暂停 | resume resumed fortgesetzt reanudado repris 恢复
"""
