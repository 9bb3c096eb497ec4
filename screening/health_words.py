"""The words of health: what people have, take and undergo. Pure."""

from screening.patterns import any_of, words_of

CONDITIONS = any_of(r"""
    diabetes, diabetic ketoacidosis, asthma, cancer, leuk(?:a)?emia, lymphoma, melanoma, tumou?rs?, hiv,
    (?-i:AIDS), hepatitis(?: [abc])?, tuberculosis, covid(?:-19)?, pneumonia, bronchitis, influenza, the
    flu, malaria, sepsis, meningitis, shingles, lyme disease, epilepsy, seizures?, parkinson(?:'?s)?(?:
    disease)?, alzheimer(?:'?s)?, dementia, multiple sclerosis, (?-i:ALS), muscular dystrophy, cerebral
    palsy, down syndrome, autism, asperger'?s?, adhd, (?-i:ADD), ocd, ptsd, depression, anxiety(?:
    disorder)?, panic attacks?, bipolar(?: disorder)?, schizophrenia, psychosis, borderline personality
    disorder, anorexia(?: nervosa)?, bulimia, an? eating disorder, insomnia, narcolepsy, sleep
    apn(?:o)?ea, migraines?, arthritis, rheumatoid arthritis, osteoporosis, fibromyalgia, lupus, gout,
    psoriasis, eczema, crohn'?s?(?: disease)?, colitis, ulcerative colitis, ibs, celiac(?: disease)?,
    coeliac disease, lactose intolerance, gluten intolerance, endometriosis, pcos, fibroids, infertility,
    hypertension, hypotension, high blood pressure, high cholesterol, heart disease, heart failure, heart
    attack, an? arrhythmia, atrial fibrillation, an? stroke, an? aneurysm, angina, thrombosis, an? blood
    clot, an(?:a)?emia, h(?:a)?emophilia, sickle cell(?: disease)?, hypothyroidism, hyperthyroidism,
    hashimoto'?s?, kidney disease, kidney failure, kidney stones, liver disease, cirrhosis, copd,
    emphysema, cystic fibrosis, glaucoma, cataracts, herpes, chlamydia, gonorrh(?:o)?ea, syphilis, hpv,
    an? std, an? sti, an? hernia, an? concussion, scoliosis, sciatica, an? ulcer, appendicitis,
    gallstones, an? miscarriage, an? abortion, an? overdose, long covid, chronic pain, chronic fatigue(?:
    syndrome)?, tinnitus, tourette'?s?, dyslexia, an? addiction, alcoholism, an? drug problem, suicidal
    thoughts, an? mental illness, an? chronic illness, an? disability, (?:peanut|nut|tree
    nut|penicillin|latex|shellfish|bee|wasp|egg|milk|soy|wheat|pollen|food) allerg(?:y|ies), hay fever,
    anaphylaxis, (?:back|chest|joint|neck|knee) pain, (?:[a-z'-]+ )?[a-z'-]+
    (?:disease|disorder|syndrome|infection|deficiency|impairment),
    (?:heart|skin|kidney|liver|lung|thyroid|eye|medical|health|autoimmune|mental)
    (?:conditions?|problems?|issues?)
""")
MEDICINES = any_of(r"""
    insulin, metformin, warfarin, aspirin, ibuprofen, paracetamol, acetaminophen, tylenol, advil,
    penicillin, amoxicillin, antibiotics, antidepressants?, antipsychotics?, beta blockers?, blood
    thinners?, painkillers, statins?, lisinopril, amlodipine, losartan, atorvastatin, simvastatin,
    rosuvastatin, omeprazole, pantoprazole, levothyroxine, prednisone, prednisolone, cortisone, steroids,
    albuterol, salbutamol, an inhaler, ventolin, sertraline, zoloft, prozac, fluoxetine, citalopram,
    escitalopram, lexapro, paroxetine, venlafaxine, duloxetine, bupropion, wellbutrin, mirtazapine,
    trazodone, lithium, lamotrigine, valproate, quetiapine, seroquel, olanzapine, risperidone,
    aripiprazole, abilify, xanax, alprazolam, diazepam, valium, lorazepam, ativan, clonazepam, zolpidem,
    ambien, ritalin, methylphenidate, adderall, vyvanse, concerta, oxycodone, oxycontin, hydrocodone,
    vicodin, morphine, fentanyl, tramadol, codeine, methadone, suboxone, naltrexone, gabapentin,
    pregabalin, lyrica, humira, methotrexate, tamoxifen, ozempic, semaglutide, wegovy, mounjaro, viagra,
    sildenafil, birth control, the pill, estrogen, testosterone, hormone blockers, antiretrovirals,
    (?-i:PrEP), truvada, epipen, chemo, chemotherapy, dialysis, radiation therapy, immunotherapy
""")
TREATMENTS = any_of(r"""
    chemo, chemotherapy, radiation(?: therapy)?, radiotherapy, dialysis,
    (?:heart|brain|knee|hip|back|eye|bypass|, open-heart|gallbladder) surgery, surgery, an?
    (?:kidney|liver|heart|bone marrow|lung) transplant, an? (?:knee|hip) replacement, an? biopsy, an? mri,
    an? colonoscopy, an? mammogram, an? mastectomy, an? hysterectomy, an? vasectomy, an? appendectomy, an?
    pacemaker, ivf, rehab, physical therapy, psychotherapy, an? c-section, an? blood transfusion, an? root
    canal, an? stent, gender-affirming surgery, hospice care
""")
STATES = any_of(r"""
    pregnant, diabetic, epileptic, asthmatic, autistic, schizophrenic, anorexic, bulimic, infertile,
    paraplegic, quadriplegic, immunocompromised, hiv[ -]positive, hiv[ -]negative, hospitali[sz]ed,
    suicidal, depressed, manic-depressive, legally blind, hard of hearing, deaf, in remission, in rehab,
    in hospice, in intensive care, terminally ill, chronically ill, mentally ill, an? alcoholic, an?
    recovering alcoholic, an? recovering addict, lactose[ -]intolerant, gluten[ -]intolerant,
    h(?:a)?emophiliac, wheelchair[ -]bound, h(?:a)?emiplegic, neurodivergent, menopausal, on disability
""")
ALLERGENS = any_of(r"""
    peanuts?, nuts?, tree nuts, penicillin, latex, shellfish, bees?, bee stings, wasps?, eggs?, milk,
    dairy, soy, wheat, gluten, pollen, grass, dust, dust mites, cats?, dogs?, cat hair, mold, mould,
    sulfa(?: drugs)?, aspirin, ibuprofen, strawberries, seafood, fish, sesame, nickel, codeine,
    amoxicillin, antibiotics, lactose
""")
SPECIALISTS = any_of("""
    an? psychiatrist, an? psychologist, an? oncologist, an? cardiologist, an? neurologist, an?
    endocrinologist, an? rheumatologist, an? urologist, an? gyn(?:a)?ecologist, an? addiction counsell?or,
    an? therapist
""")
BODY = any_of("""
    legs?, arms?, wrists?, ankles?, hips?, ribs?, collarbone, nose, acl, meniscus, back, neck, foot,
    toes?, hand, fingers?, knees?, shoulder, elbow, jaw, pelvis, achilles tendon
""")
GERMAN = any_of("""
    diabetes, (?:brust|lungen|haut|prostata|darm)?krebs, asthma, depression(?:en)?, migräne, epilepsie,
    rheuma, bluthochdruck, hiv(?:-positiv)?, (?-i:AIDS), insulin, metformin, antidepressiva, ritalin,
    eine? chemotherapie, chemo, burnout, schwanger, depressiv, diabetiker(?:in)?, alkoholiker(?:in)?,
    multiple sklerose, parkinson, demenz, alzheimer, eine essstörung, eine angststörung, adhs, autismus
""")
SPANISH = any_of("""
    diabetes, cáncer, asma, depresión, ansiedad, insulina, metformina, embarazada, vih, epilepsia,
    hipertensión, migrañas?, quimioterapia, antidepresivos, diabétic[oa], esclerosis, parkinson,
    alzheimer, tdah
""")
FRENCH = any_of("""
    diabète, diabétique, cancer, asthme, asthmatique, dépression, dépressi(?:f|ve), insuline, enceinte,
    séropositi(?:f|ve), épilepsie, hypertension, migraines?, chimiothérapie, antidépresseurs, sclérose
""")
# What follows a condition that is the subject of somebody's work, or a figure of speech.
TRADE = words_of("""
    dataset datasets data research researcher study studies clinic clinics app apps application model
    models center centre ward project projects paper papers conference awareness charity classifier
    prediction detection patients patient nurse doctor specialist drug market company startup team module
    api service page portal community group foundation screening software product line marker markers
    dream about pages campaign fundraiser benchmark corpus tracker journal trial trials department record
    records endpoint over costs prices stocks batteries battery ion time tests test work reports
    scheduling policy policies questions jokes pump firmware vendor supplier
""")
# What a machine is diagnosed with.
TECHNICAL = words_of("""
    memory leak leaks bug bugs network disk config configuration deadlock latency timeout failure issue
    issues error errors performance problem problems hardware server database race a/b
""")
# Words that begin a sentence and are nobody's name.
NO_NAMES = words_of("""
    what there here this that it its the where who how when why which these those one some people patients
    is are was were do does did can could should would will if and or but so as at by for from in on of to
    with everyone everybody nobody someone anyone many most millions children adults women men users he
    she
""")
